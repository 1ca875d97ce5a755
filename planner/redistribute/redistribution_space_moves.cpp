// The moves out of one placement: slices, all_gathers, all_to_alls, permutations, and reductions of partial pieces.
#include "planner/redistribute/redistribution_space.h"

#include <algorithm>

namespace shard {

// Goes through the moves out of one placement. What a move does is written out for one of them alone, which is asked for
// by its number; a search looks at many, and takes few.
class RedistributionSpace::Generator {
public:
    Generator(const RedistributionSpace& space, const Placement& here, MoveVisitor* visitor, int asked_for = -1)
        : space_(space), here_(here), after_(here), bytes_(space.local_bytes(here)), visitor_(visitor),
          asked_for_(asked_for) {
        find_unused();
    }

    // A partial value is reduced before anything else is done to it, but for slices, which make it smaller.
    void run() {
        slices();
        const std::vector<int> reducing = to_reduce();
        if (reducing.empty()) {
            all_gathers();
            all_to_alls();
            permutations();
            return;
        }
        scatter_toward_goal(reducing);
        for (size_t d = 0; d < rank(); ++d) {
            std::vector<int> chosen;
            scatter(d, chosen, reducing);
        }
        remove_partial(reducing);
        add_collective({.reduce = true}, group_of(reducing),
                       [&] { return Collective{nullptr, refs(reducing), space_.reduce_, {}, {}, {}, 0}; });
        after_.partial = here_.partial;
    }

    RedistributionStep step() { return std::move(step_); }

private:
    i64 size(int piece) const { return space_.pieces_[piece].size; }
    size_t rank() const { return here_.dims.size(); }

    std::vector<AxisRef> refs(std::span<const int> pieces) const {
        std::vector<AxisRef> list;
        for (int piece : pieces) append_axis(list, space_.pieces_[piece]);
        return list;
    }
    i64 product(std::span<const int> pieces) const {
        i64 result = 1;
        for (int piece : pieces) result *= size(piece);
        return result;
    }
    bool divides(size_t dim, i64 parts) const { return space_.shape_[dim] / product(here_.dims[dim]) % parts == 0; }

    void find_unused() {
        std::vector<bool> used(space_.pieces_.size());
        for (const std::vector<int>& dim : here_.dims) {
            for (int piece : dim) used[piece] = true;
        }
        for (int piece : here_.partial) used[piece] = true;
        for (size_t p = 0; p < used.size(); ++p) {
            if (!used[p]) unused_.push_back(static_cast<int>(p));
        }
    }

    bool wanted(int piece) const {
        for (const std::vector<int>& dim : space_.goal_.dims) {
            if (std::find(dim.begin(), dim.end(), piece) != dim.end()) return true;
        }
        return false;
    }

    // The move that makes `after_`.
    template<class Seconds, class Cost, class Step>
    void add(const Seconds& seconds, const Cost& cost, const Step& step) {
        const int number = next_++;
        if (visitor_ == nullptr) {
            if (number == asked_for_) step_ = step();
        } else if (const double taken = seconds(); visitor_->wants(after_, taken)) {
            visitor_->take(number, cost(taken));
        }
    }

    // By every kind that does this. What devices send each other depends on who they are, not on dims.
    template<class Make>
    void add_collective(const CollectiveDef::Uses& uses, Group group, const Make& make) {
        for_each_kind(uses, make, [&](const CollectiveDef& def, const auto& collective) {
            const Price& price = price_of(def, group, collective);
            add([&] { return price.seconds; },
                [&](double seconds) {
                    return MoveCost{seconds, price.wire_bytes, 1, 1};
                },
                [&] {
                    return RedistributionStep{collective(), {}};
                });
        });
    }

    template<class Make, class Visit>
    static void for_each_kind(const CollectiveDef::Uses& uses, const Make& make, const Visit& visit) {
        for (const CollectiveDef* def : all_collectives()) {
            if (def->uses != uses) continue;
            visit(*def, [&make, def] {
                Collective made = make();
                made.def = def;
                return made;
            });
        }
    }

    template<class Make>
    const Price& price_of(const CollectiveDef& def, Group group, const Make& collective) {
        const auto [known, is_new] = space_.prices_.try_emplace({&def, group, bytes_});
        if (is_new) {
            const Collective made = collective();
            known->second = {def.seconds(made, *space_.mesh_, *space_.hardware_, bytes_),
                             def.wire_bytes_total(made, *space_.mesh_, bytes_)};
        }
        return known->second;
    }

    static Group group_of(std::span<const int> pieces) {
        Group group = 0;
        for (int piece : pieces) group |= Group{1} << piece;
        return group;
    }

    // A piece that is wanted somewhere, or idle, may split any dim, without traffic.
    void slices() {
        for (int piece : unused_) {
            if (!wanted(piece) && static_cast<size_t>(piece) < space_.first_idle_) continue;
            for (size_t d = 0; d < rank(); ++d) {
                if (!divides(d, size(piece))) continue;
                after_.dims[d].push_back(piece);
                add([] { return 0.0; },
                    [](double) {
                        return MoveCost{0, 0, 0, 1};
                    },
                    [&] {
                        return RedistributionStep{std::nullopt, {-1, static_cast<int>(d), refs(std::span(&piece, 1))}};
                    });
                after_.dims[d].pop_back();
            }
        }
    }

    // Any choice of minor pieces of all dims, at once.
    void all_gathers() {
        std::vector<size_t> taken(rank(), 0);
        for (;;) {
            size_t d = 0;
            for (; d < rank() && taken[d] == here_.dims[d].size(); ++d) {
                after_.dims[d] = here_.dims[d];
                taken[d] = 0;
            }
            if (d == rank()) return;
            ++taken[d];
            after_.dims[d].pop_back();
            Group group = 0;
            const auto pieces = [&](size_t k) { return std::span(here_.dims[k]).last(taken[k]); };
            for (size_t k = 0; k < rank(); ++k) group |= group_of(pieces(k));
            add_collective({.from = true}, group, [&] {
                Collective collective;
                for (size_t k = 0; k < rank(); ++k) {
                    if (taken[k] == 0) continue;
                    std::vector<AxisRef> axes = refs(pieces(k));
                    for (const AxisRef& ref : axes) append_axis(collective.axes, ref);
                    collective.moves.push_back({static_cast<int>(k), -1, std::move(axes)});
                }
                return collective;
            });
        }
    }

    void all_to_alls() {
        for (size_t from = 0; from < rank(); ++from) {
            for (size_t count = 1; count <= here_.dims[from].size(); ++count) {
                const std::span<const int> pieces = std::span(here_.dims[from]).last(count);
                after_.dims[from].pop_back();
                for (size_t to = 0; to < rank(); ++to) {
                    if (to == from || !divides(to, product(pieces))) continue;
                    after_.dims[to].insert(after_.dims[to].end(), pieces.begin(), pieces.end());
                    add_collective({.from = true, .to = true}, group_of(pieces), [&] {
                        const std::vector<AxisRef> axes = refs(pieces);
                        const AxisMove move{static_cast<int>(from), static_cast<int>(to), axes};
                        return Collective{nullptr, axes, ReduceOp::sum, {move}, {}, {}, 0};
                    });
                    after_.dims[to] = here_.dims[to];
                }
            }
            after_.dims[from] = here_.dims[from];
        }
    }

    // Of a permutation to `after_`: only what differs takes part; pieces that come or go fill up both orders. An order is
    // one of each dim after the other: parts of an axis on two dims stay two.
    struct Orders {
        std::vector<std::vector<int>> source, target; // parts that stay apart

        static std::vector<int> all(const std::vector<std::vector<int>>& parts) {
            std::vector<int> pieces;
            for (const std::vector<int>& part : parts) pieces.insert(pieces.end(), part.begin(), part.end());
            return pieces;
        }
    };
    Orders orders() const {
        Orders made;
        for (size_t d = 0; d < rank(); ++d) {
            const auto [source, target] = changed(d);
            made.source.emplace_back(source.begin(), source.end());
            made.target.emplace_back(target.begin(), target.end());
        }
        const auto missing = [](const std::vector<int>& list, const std::vector<int>& other) {
            std::vector<int> result;
            for (int piece : other)
                if (std::find(list.begin(), list.end(), piece) == list.end()) result.push_back(piece);
            return result;
        };
        const std::vector<int> source = Orders::all(made.source), target = Orders::all(made.target);
        made.source.push_back(missing(source, target));
        made.target.push_back(missing(target, source));
        return made;
    }

    // What differs on a dim between here and `after_`.
    std::pair<std::span<const int>, std::span<const int>> changed(size_t dim) const {
        const std::span<const int> a = here_.dims[dim], b = after_.dims[dim];
        const size_t least = std::min(a.size(), b.size());
        size_t front = 0, back = 0;
        while (front < least && a[front] == b[front]) ++front;
        while (front + back < least && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
        return {a.subspan(front, a.size() - front - back), b.subspan(front, b.size() - front - back)};
    }

    // Renumbers blocks: `after_` has the same parts on every dim.
    void permutation() {
        if (after_.dims == here_.dims) return;
        const auto make = [&] {
            const Orders made = orders();
            const auto order = [&](const std::vector<std::vector<int>>& parts) {
                std::vector<AxisRef> axes;
                for (const std::vector<int>& part : parts)
                    for (const AxisRef& ref : refs(part)) axes.push_back(ref);
                return axes;
            };
            std::vector<int> group = Orders::all(made.source); // by axis, so that parts of one axis become one
            std::sort(group.begin(), group.end(),
                      [this](int a, int b) { return space_.pieces_[a] < space_.pieces_[b]; });
            return Collective{nullptr, refs(group), ReduceOp::sum, {}, order(made.source), order(made.target), 0};
        };
        for_each_kind({.orders = true}, make, [&](const CollectiveDef& def, const auto& collective) {
            add([&] { return permutation_seconds(def, collective); },
                [&](double seconds) {
                    return MoveCost{seconds, permutation_bytes(def, collective), 1, 1};
                },
                [&] {
                    return RedistributionStep{collective(), {}};
                });
        });
    }

    // Of a group, but for a permutation that moves nothing, as only pieces of one part can make one.
    template<class Make>
    double permutation_seconds(const CollectiveDef& def, const Make& collective) {
        Group group = 0;
        for (size_t d = 0; d < rank(); ++d) {
            const auto [source, target] = changed(d);
            group |= group_of(source) | group_of(target);
        }
        if ((group & space_.units_) != 0) return def.seconds(collective(), *space_.mesh_, *space_.hardware_, bytes_);
        return price_of(def, group, collective).seconds;
    }

    // Who sends depends on the orders.
    template<class Make>
    i64 permutation_bytes(const CollectiveDef& def, const Make& collective) {
        std::string key(reinterpret_cast<const char*>(&bytes_), sizeof bytes_);
        for (size_t d = 0; d < rank(); ++d) {
            const auto [source, target] = changed(d);
            for (const std::span<const int> pieces : {source, target})
                key.append(pieces.begin(), pieces.end()).push_back(-1); // no piece
        }
        const auto [known, is_new] = space_.permutation_bytes_[&def].try_emplace(std::move(key));
        if (is_new) known->second = def.wire_bytes_total(collective(), *space_.mesh_, bytes_);
        return known->second;
    }

    // Every arrangement of the pieces that gives each dim as many parts as it has now.
    void arrange(std::vector<int>& pool, size_t dim, i64 parts_left) {
        if (dim == rank()) return permutation();
        if (parts_left == 1) return arrange(pool, dim + 1, dim + 1 < rank() ? product(here_.dims[dim + 1]) : 1);
        for (int& entry : pool) {
            const int piece = entry;
            if (piece < 0 || parts_left % size(piece) != 0) continue;
            entry = -1;
            after_.dims[dim].push_back(piece);
            arrange(pool, dim, parts_left / size(piece));
            after_.dims[dim].pop_back();
            entry = piece;
        }
    }

    // Exchanges two pieces of one size; enough to reach every arrangement in several steps where there are too many to
    // try.
    void swaps(const std::vector<int>& pool) {
        for (size_t i = 0; i < pool.size(); ++i) {
            for (size_t j = i + 1; j < pool.size(); ++j) {
                if (size(pool[i]) != size(pool[j])) continue;
                for (std::vector<int>& dim : after_.dims) {
                    for (int& piece : dim) {
                        if (piece == pool[i]) {
                            piece = pool[j];
                        } else if (piece == pool[j]) {
                            piece = pool[i];
                        }
                    }
                }
                permutation();
                after_.dims = here_.dims;
            }
        }
    }

    void permutations() {
        std::vector<int> pool = unused_;
        for (const std::vector<int>& dim : here_.dims) pool.insert(pool.end(), dim.begin(), dim.end());
        std::sort(pool.begin(), pool.end());
        if (pool.size() > 4) {
            swaps(pool);
            toward_goal(pool);
        } else {
            for (std::vector<int>& dim : after_.dims) dim.clear();
            arrange(pool, 0, rank() > 0 ? product(here_.dims[0]) : 1);
        }
        after_.dims = here_.dims;
    }

    // One arrangement made for the goal: wanted pieces in the wanted order as far as they fit each dim, then whatever
    // is left over.
    void toward_goal(std::vector<int> pool) {
        std::vector<i64> left;
        auto take = [&](size_t d, int piece) {
            auto found = std::find(pool.begin(), pool.end(), piece);
            if (found == pool.end() || left[d] % size(piece) != 0) return false;
            after_.dims[d].push_back(piece);
            left[d] /= size(piece);
            pool.erase(found);
            return true;
        };
        for (size_t d = 0; d < rank(); ++d) {
            after_.dims[d].clear();
            left.push_back(product(here_.dims[d]));
            for (int piece : space_.goal_.dims[d]) {
                if (!take(d, piece)) break;
            }
        }
        for (size_t d = 0; d < rank(); ++d) {
            for (int piece : here_.dims[d]) take(d, piece);
        }
        for (size_t d = 0; d < rank(); ++d) {
            for (int piece : std::vector<int>(pool)) take(d, piece);
            if (left[d] > 1) return;
        }
        permutation();
    }

    std::vector<int> to_reduce() const {
        std::vector<int> result;
        std::set_difference(here_.partial.begin(), here_.partial.end(), space_.goal_.partial.begin(),
                            space_.goal_.partial.end(), std::back_inserter(result));
        return result;
    }

    void remove_partial(std::span<const int> pieces) {
        std::erase_if(after_.partial,
                      [&](int piece) { return std::find(pieces.begin(), pieces.end(), piece) != pieces.end(); });
    }

    void scatter(size_t dim, std::vector<int>& chosen, const std::vector<int>& pieces) {
        for (int piece : pieces) {
            if (std::find(chosen.begin(), chosen.end(), piece) != chosen.end()) continue;
            chosen.push_back(piece);
            if (divides(dim, product(chosen))) {
                remove_partial(chosen);
                after_.dims[dim].insert(after_.dims[dim].end(), chosen.begin(), chosen.end());
                add_collective({.reduce = true, .to = true}, group_of(chosen), [&] {
                    const std::vector<AxisRef> axes = refs(chosen);
                    const AxisMove move{-1, static_cast<int>(dim), axes};
                    return Collective{nullptr, axes, space_.reduce_, {move}, {}, {}, 0};
                });
                after_.partial = here_.partial;
                after_.dims[dim] = here_.dims[dim];
                if (chosen.size() < 3) scatter(dim, chosen, pieces);
            }
            chosen.pop_back();
        }
    }

    // The pieces that are partial now and come next on the goal's dims, all dims in one reduce_scatter.
    void scatter_toward_goal(const std::vector<int>& pieces) {
        Collective collective;
        collective.reduce = space_.reduce_;
        std::vector<int> all;
        for (size_t d = 0; d < rank(); ++d) {
            const std::vector<int>&now = here_.dims[d], &goal = space_.goal_.dims[d];
            if (now.size() >= goal.size() || !std::equal(now.begin(), now.end(), goal.begin())) continue;
            std::vector<int> chosen;
            for (size_t i = now.size(); i < goal.size(); ++i) {
                if (std::find(pieces.begin(), pieces.end(), goal[i]) == pieces.end()) break;
                chosen.push_back(goal[i]);
            }
            if (chosen.empty() || !divides(d, product(chosen))) continue;
            collective.moves.push_back({-1, static_cast<int>(d), refs(chosen)});
            after_.dims[d].insert(after_.dims[d].end(), chosen.begin(), chosen.end());
            all.insert(all.end(), chosen.begin(), chosen.end());
        }
        collective.axes = refs(all);
        remove_partial(all);
        if (collective.moves.size() > 1) // one dim alone is tried as every other
            add_collective({.reduce = true, .to = true}, group_of(all), [&] { return collective; });
        after_ = here_;
    }

    const RedistributionSpace& space_;
    const Placement& here_;
    Placement after_; // as the move that is looked at makes it; `here_` between moves
    const i64 bytes_;
    MoveVisitor* visitor_; // nullptr: one move is asked for
    int asked_for_;
    int next_ = 0;
    RedistributionStep step_;
    std::vector<int> unused_; // neither on a dim nor partial
};

void RedistributionSpace::visit_moves(const Placement& placement, MoveVisitor& visitor) const {
    Generator(*this, placement, &visitor).run();
}

RedistributionStep RedistributionSpace::step(const Placement& placement, int number) const {
    Generator generator(*this, placement, nullptr, number);
    generator.run();
    return generator.step();
}

} // namespace shard
