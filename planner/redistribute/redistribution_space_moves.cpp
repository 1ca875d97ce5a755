// The moves out of one placement: slices, all_gathers, all_to_alls, permutations, and reductions of partial pieces.
#include "planner/redistribute/redistribution_space.h"

#include <algorithm>

namespace shard {

// Collects the moves out of one placement.
struct RedistributionSpace::Generator {
    const RedistributionSpace& space;
    const Placement& here;
    std::vector<PlacementMove> moves = {};
    std::vector<int> unused = {}; // neither on a dim nor partial

    i64 size(int piece) const { return space.pieces_[piece].size; }
    size_t rank() const { return here.dims.size(); }

    std::vector<AxisRef> refs(std::span<const int> pieces) const {
        std::vector<AxisRef> list;
        for (int piece : pieces) append_axis(list, space.pieces_[piece]);
        return list;
    }
    i64 product(std::span<const int> pieces) const {
        i64 result = 1;
        for (int piece : pieces) result *= size(piece);
        return result;
    }
    bool divides(size_t dim, i64 parts) const { return space.shape_[dim] / product(here.dims[dim]) % parts == 0; }

    void find_unused() {
        std::vector<bool> used(space.pieces_.size());
        for (const std::vector<int>& dim : here.dims) {
            for (int piece : dim) used[piece] = true;
        }
        for (int piece : here.partial) used[piece] = true;
        for (size_t p = 0; p < used.size(); ++p) {
            if (!used[p]) unused.push_back(static_cast<int>(p));
        }
    }

    bool wanted(int piece) const {
        for (const std::vector<int>& dim : space.goal_.dims) {
            if (std::find(dim.begin(), dim.end(), piece) != dim.end()) return true;
        }
        return false;
    }

    // By every kind that does this.
    void add_collective(const CollectiveDef::Uses& uses, Collective collective, const Placement& after) {
        i64 bytes = space.local_bytes(here);
        for (const CollectiveDef* def : all_collectives()) {
            if (def->uses != uses) continue;
            collective.def = def;
            double seconds = def->seconds(collective, *space.mesh_, *space.hardware_, bytes);
            MoveCost cost{seconds, def->wire_bytes_total(collective, *space.mesh_, bytes), 1, 1};
            moves.push_back({{collective, {}}, after, cost});
        }
    }

    // A piece that is wanted somewhere, or idle, may split any dim, without traffic.
    void slices() {
        for (int piece : unused) {
            if (!wanted(piece) && static_cast<size_t>(piece) < space.first_idle_) continue;
            for (size_t d = 0; d < rank(); ++d) {
                if (!divides(d, size(piece))) continue;
                Placement after = here;
                after.dims[d].push_back(piece);
                std::vector<AxisRef> axes = refs(std::span(&piece, 1));
                moves.push_back(
                    {{std::nullopt, {-1, static_cast<int>(d), std::move(axes)}}, std::move(after), {0, 0, 0, 1}});
            }
        }
    }

    // Any choice of minor pieces of all dims, at once.
    void all_gathers() {
        std::vector<size_t> taken(rank(), 0);
        for (;;) {
            size_t d = 0;
            while (d < rank() && taken[d] == here.dims[d].size()) taken[d++] = 0;
            if (d == rank()) return;
            ++taken[d];
            Collective collective;
            Placement after = here;
            for (size_t k = 0; k < rank(); ++k) {
                if (taken[k] == 0) continue;
                std::vector<AxisRef> axes = refs(std::span(here.dims[k]).last(taken[k]));
                for (const AxisRef& ref : axes) append_axis(collective.axes, ref);
                collective.moves.push_back({static_cast<int>(k), -1, axes});
                after.dims[k].resize(after.dims[k].size() - taken[k]);
            }
            add_collective({.from = true}, std::move(collective), after);
        }
    }

    void all_to_alls() {
        for (size_t from = 0; from < rank(); ++from) {
            for (size_t count = 1; count <= here.dims[from].size(); ++count) {
                std::span<const int> pieces = std::span(here.dims[from]).last(count);
                for (size_t to = 0; to < rank(); ++to) {
                    if (to == from || !divides(to, product(pieces))) continue;
                    Placement after = here;
                    after.dims[to].insert(after.dims[to].end(), pieces.begin(), pieces.end());
                    after.dims[from].resize(after.dims[from].size() - count);
                    std::vector<AxisRef> axes = refs(pieces);
                    AxisMove move{static_cast<int>(from), static_cast<int>(to), axes};
                    add_collective({.from = true, .to = true}, {nullptr, axes, ReduceOp::sum, {move}, {}, {}, 0},
                                   after);
                }
            }
        }
    }

    // Renumbers blocks: `after` has the same parts on every dim. Only what differs takes part; pieces that come or go
    // fill up both orders. An order is one of each dim after the other: parts of an axis on two dims stay two.
    void permutation(const Placement& after) {
        std::vector<int> source, target;
        std::vector<AxisRef> source_order, target_order;
        const auto add = [this](std::vector<int>& pieces, std::vector<AxisRef>& order, std::span<const int> more) {
            pieces.insert(pieces.end(), more.begin(), more.end());
            const std::vector<AxisRef> axes = refs(more);
            order.insert(order.end(), axes.begin(), axes.end());
        };
        for (size_t d = 0; d < rank(); ++d) {
            const std::vector<int>&a = here.dims[d], &b = after.dims[d];
            size_t front = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
            size_t a_end = a.size(), b_end = b.size();
            while (a_end > front && b_end > front && a[a_end - 1] == b[b_end - 1]) --a_end, --b_end;
            add(source, source_order, std::span(a).subspan(front, a_end - front));
            add(target, target_order, std::span(b).subspan(front, b_end - front));
        }
        if (source.empty() && target.empty()) return;
        const auto missing = [](const std::vector<int>& list, const std::vector<int>& other) {
            std::vector<int> result;
            for (int piece : other)
                if (std::find(list.begin(), list.end(), piece) == list.end()) result.push_back(piece);
            return result;
        };
        const std::vector<int> coming = missing(source, target), leaving = missing(target, source);
        add(source, source_order, coming);
        add(target, target_order, leaving);
        std::vector<int> group = source; // by axis, so that parts of one axis become one whatever their numbers
        std::sort(group.begin(), group.end(), [this](int a, int b) { return space.pieces_[a] < space.pieces_[b]; });
        add_collective({.orders = true}, {nullptr, refs(group), ReduceOp::sum, {}, source_order, target_order, 0},
                       after);
    }

    // Every arrangement of the pieces that gives each dim as many parts as it has now.
    void arrange(Placement& after, std::vector<int>& pool, size_t dim, i64 parts_left) {
        if (dim == rank()) return permutation(after);
        if (parts_left == 1) return arrange(after, pool, dim + 1, dim + 1 < rank() ? product(here.dims[dim + 1]) : 1);
        for (size_t i = 0; i < pool.size(); ++i) {
            int piece = pool[i];
            if (piece < 0 || parts_left % size(piece) != 0) continue;
            pool[i] = -1;
            after.dims[dim].push_back(piece);
            arrange(after, pool, dim, parts_left / size(piece));
            after.dims[dim].pop_back();
            pool[i] = piece;
        }
    }

    // Exchanges two pieces of one size; enough to reach every arrangement in several steps where there are too many to
    // try.
    void swaps(const std::vector<int>& pool) {
        for (size_t i = 0; i < pool.size(); ++i) {
            for (size_t j = i + 1; j < pool.size(); ++j) {
                if (size(pool[i]) != size(pool[j])) continue;
                Placement after = here;
                for (std::vector<int>& dim : after.dims) {
                    for (int& piece : dim) {
                        if (piece == pool[i]) {
                            piece = pool[j];
                        } else if (piece == pool[j]) {
                            piece = pool[i];
                        }
                    }
                }
                permutation(after);
            }
        }
    }

    void permutations() {
        std::vector<int> pool = unused;
        for (const std::vector<int>& dim : here.dims) pool.insert(pool.end(), dim.begin(), dim.end());
        std::sort(pool.begin(), pool.end());
        if (pool.size() > 4) {
            swaps(pool);
            toward_goal(pool);
            return;
        }
        Placement after = here;
        for (std::vector<int>& dim : after.dims) dim.clear();
        arrange(after, pool, 0, rank() > 0 ? product(here.dims[0]) : 1);
    }

    // One arrangement made for the goal: wanted pieces in the wanted order as far as they fit each dim, then whatever
    // is left over.
    void toward_goal(std::vector<int> pool) {
        Placement after = here;
        std::vector<i64> left;
        auto take = [&](size_t d, int piece) {
            auto found = std::find(pool.begin(), pool.end(), piece);
            if (found == pool.end() || left[d] % size(piece) != 0) return false;
            after.dims[d].push_back(piece);
            left[d] /= size(piece);
            pool.erase(found);
            return true;
        };
        for (size_t d = 0; d < rank(); ++d) {
            after.dims[d].clear();
            left.push_back(product(here.dims[d]));
            for (int piece : space.goal_.dims[d]) {
                if (!take(d, piece)) break;
            }
        }
        for (size_t d = 0; d < rank(); ++d) {
            for (int piece : here.dims[d]) take(d, piece);
        }
        for (size_t d = 0; d < rank(); ++d) {
            for (int piece : std::vector<int>(pool)) take(d, piece);
            if (left[d] > 1) return;
        }
        permutation(after);
    }

    std::vector<int> to_reduce() const {
        std::vector<int> result;
        std::set_difference(here.partial.begin(), here.partial.end(), space.goal_.partial.begin(),
                            space.goal_.partial.end(), std::back_inserter(result));
        return result;
    }

    Placement without_partial(std::span<const int> pieces) const {
        Placement after = here;
        std::erase_if(after.partial,
                      [&](int piece) { return std::find(pieces.begin(), pieces.end(), piece) != pieces.end(); });
        return after;
    }

    void scatter(size_t dim, std::vector<int>& chosen, const std::vector<int>& pieces) {
        for (int piece : pieces) {
            if (std::find(chosen.begin(), chosen.end(), piece) != chosen.end()) continue;
            chosen.push_back(piece);
            if (divides(dim, product(chosen))) {
                Placement after = without_partial(chosen);
                after.dims[dim].insert(after.dims[dim].end(), chosen.begin(), chosen.end());
                std::vector<AxisRef> axes = refs(chosen);
                AxisMove move{-1, static_cast<int>(dim), axes};
                add_collective({.reduce = true, .to = true}, {nullptr, axes, space.reduce_, {move}, {}, {}, 0}, after);
                if (chosen.size() < 3) scatter(dim, chosen, pieces);
            }
            chosen.pop_back();
        }
    }

    // The pieces that are partial now and come next on the goal's dims, all dims in one reduce_scatter.
    void scatter_toward_goal(const std::vector<int>& pieces) {
        Collective collective;
        collective.reduce = space.reduce_;
        std::vector<int> all;
        Placement after = here;
        for (size_t d = 0; d < rank(); ++d) {
            const std::vector<int>&now = here.dims[d], &goal = space.goal_.dims[d];
            if (now.size() >= goal.size() || !std::equal(now.begin(), now.end(), goal.begin())) continue;
            std::vector<int> chosen;
            for (size_t i = now.size(); i < goal.size(); ++i) {
                if (std::find(pieces.begin(), pieces.end(), goal[i]) == pieces.end()) break;
                chosen.push_back(goal[i]);
            }
            if (chosen.empty() || !divides(d, product(chosen))) continue;
            collective.moves.push_back({-1, static_cast<int>(d), refs(chosen)});
            after.dims[d].insert(after.dims[d].end(), chosen.begin(), chosen.end());
            all.insert(all.end(), chosen.begin(), chosen.end());
        }
        if (collective.moves.size() < 2) return; // one dim alone was tried
        collective.axes = refs(all);
        after.partial = without_partial(all).partial;
        add_collective({.reduce = true, .to = true}, std::move(collective), after);
    }

    // A partial value is reduced before anything else is done to it, but for slices, which make it smaller.
    void all() {
        find_unused();
        slices();
        std::vector<int> reducing = to_reduce();
        if (!reducing.empty()) {
            scatter_toward_goal(reducing);
            for (size_t d = 0; d < rank(); ++d) {
                std::vector<int> chosen;
                scatter(d, chosen, reducing);
            }
            add_collective({.reduce = true}, {nullptr, refs(reducing), space.reduce_, {}, {}, {}, 0},
                           without_partial(reducing));
            return;
        }
        all_gathers();
        all_to_alls();
        permutations();
    }
};

std::vector<PlacementMove> RedistributionSpace::moves(const Placement& placement) const {
    Generator generator{*this, placement};
    generator.all();
    return std::move(generator.moves);
}

} // namespace shard
