// A* over placements (redistribution_space.h) by (seconds, wire bytes, collectives, steps); equal costs keep what
// was found first, and moves come in a fixed order, so the answer is the same on every run.
#include "planner/redistribute/redistribute.h"

#include "planner/redistribute/greedy_reshard.h"
#include "planner/redistribute/redistribution_space.h"

#include "plans/base/saturating.h"
#include "plans/sharding/axis_lists.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <unordered_map>

namespace shard {

namespace {

constexpr int most_placements = 600;

// For the cheapest way in which no state holds more than `most_bytes`, if it takes no more than `most_seconds`.
class Search : MoveVisitor {
public:
    Search(const RedistributionSpace& space, const Placement& start, i64 most_bytes, double most_seconds)
        : space_(space), start_(text_of(start)), goal_(text_of(space.goal())), most_bytes_(most_bytes),
          most_seconds_(most_seconds + space.grain()) {
        const MoveCost rest = space.at_least(start);
        visits_[start_] = {{}, rest, {}, 0};
        enqueue(start_, {}, rest);
    }

    std::optional<Redistribution> run() {
        for (int looked_at = 0; !queue_.empty(); ++looked_at) {
            here_ = queue_.begin()->second;
            queue_.erase(queue_.begin());
            if (here_ == goal_ || (looked_at >= most_placements && sees_goal_)) break;
            paid_ = visits_.at(here_).cost;
            space_.visit_moves(placement_of(here_), *this);
        }
        return visits_.count(goal_) > 0 ? std::optional(way_to_goal()) : std::nullopt;
    }

    bool is_cut_short() const { return is_cut_short_; } // a way that takes more seconds may be there

private:
    struct Visit {
        MoveCost cost, rest; // from the start; to the goal, at least
        std::string previous;
        int move = 0; // out of the previous one
    };

    // A placement that is reached for less already, or lies on no way that is cheaper than what is known, is left out.
    bool wants(const Placement& after, double seconds) override {
        if (space_.local_bytes(after) > most_bytes_) return false;
        const MoveCost least = paid_ + MoveCost{seconds, 0, 0, 1};
        after_ = text_of(after);
        sees_goal_ = sees_goal_ || after_ == goal_;
        const std::unordered_map<std::string, Visit>::const_iterator known = visits_.find(after_);
        if (known == visits_.end()) {
            rest_ = space_.at_least(after);
        } else if (space_.estimate(known->second.cost, {}) <= space_.estimate(least, {})) {
            return false;
        } else {
            rest_ = known->second.rest;
        }
        return may_help(least);
    }

    void take(int number, const MoveCost& cost) override {
        const MoveCost total = paid_ + cost;
        if (!may_help(total)) return;
        const auto [known, is_new] = visits_.try_emplace(after_);
        if (!is_new) {
            if (space_.estimate(known->second.cost, {}) <= space_.estimate(total, {})) return;
            queue_.erase({space_.estimate(known->second.cost, rest_), after_});
        }
        enqueue(after_, total, rest_);
        known->second = {total, rest_, here_, number};
        if (after_ == goal_) best_ = space_.estimate(total, {});
    }

    bool may_help(const MoveCost& paid) {
        const MoveCost whole = space_.estimate(paid, rest_);
        if (whole.seconds > most_seconds_) {
            is_cut_short_ = true;
            return false;
        }
        return !best_ || whole <= *best_;
    }

    void enqueue(const std::string& placement, const MoveCost& paid, const MoveCost& rest) {
        queue_.insert({space_.estimate(paid, rest), placement});
    }

    Redistribution way_to_goal() const {
        Redistribution way;
        const MoveCost& cost = visits_.at(goal_).cost;
        way.seconds = cost.seconds;
        way.wire_bytes_total = cost.wire_bytes;
        way.collectives = cost.collectives;
        for (std::string at = goal_; at != start_;) {
            const Visit& visit = visits_.at(at);
            way.steps.push_back(space_.step(placement_of(visit.previous), visit.move));
            at = visit.previous;
        }
        std::reverse(way.steps.begin(), way.steps.end());
        return way;
    }

    const RedistributionSpace& space_;
    const std::string start_, goal_;
    const i64 most_bytes_;
    const double most_seconds_;
    bool is_cut_short_ = false, sees_goal_ = false;
    std::unordered_map<std::string, Visit> visits_;    // looked up, never iterated
    std::set<std::pair<MoveCost, std::string>> queue_; // by the least cost of a whole way through the placement
    std::optional<MoveCost> best_;                     // of the ways to the goal that are known
    std::string here_, after_; // where the moves begin, and where the one that is looked at ends
    MoveCost paid_, rest_;     // up to here; from there on
};

// Slices between two collectives commute over dims: they are put in the order of the dims, one a dim.
void join_slices(Redistribution& redistribution) {
    std::vector<RedistributionStep> joined;
    size_t first = 0; // of the slices since the last collective
    for (RedistributionStep& step : redistribution.steps) {
        if (step.collective) {
            joined.push_back(std::move(step));
            first = joined.size();
            continue;
        }
        std::vector<RedistributionStep>::iterator place =
            std::find_if(joined.begin() + static_cast<std::ptrdiff_t>(first), joined.end(),
                         [&](const RedistributionStep& other) { return other.slice.to >= step.slice.to; });
        if (place == joined.end() || place->slice.to != step.slice.to) {
            joined.insert(place, std::move(step));
            continue;
        }
        for (const AxisRef& ref : step.slice.axes) append_axis(place->slice.axes, ref);
    }
    redistribution.steps = std::move(joined);
}

struct FirstMoves : MoveVisitor {
    struct Move {
        int number;
        Placement after;
        MoveCost cost;
    };
    explicit FirstMoves(const RedistributionSpace& space) { space.visit_moves(space.start(), *this); }

    bool wants(const Placement& placement, double) override {
        after = placement;
        return true;
    }
    void take(int number, const MoveCost& cost) override { moves.push_back({number, after, cost}); }

    Placement after;
    std::vector<Move> moves;
};

i64 larger_end(const RedistributionSpace& space) {
    return std::max(space.local_bytes(space.start()), space.local_bytes(space.goal()));
}

constexpr double any_seconds = std::numeric_limits<double>::infinity();

// Within the larger end where there is such a way. nullopt: it takes more than `most_seconds`.
std::optional<Redistribution> search_from(const RedistributionSpace& space, const Placement& start,
                                          double most_seconds = any_seconds) {
    constexpr i64 any_bytes = std::numeric_limits<i64>::max();
    Search small(space, start, larger_end(space), most_seconds);
    if (std::optional<Redistribution> found = small.run()) return found;
    std::optional<Redistribution> found = Search(space, start, any_bytes, most_seconds).run();
    return found && small.is_cut_short() ? search_from(space, start) : found;
}

// What a person sees of a sequence, to tell alternatives apart.
std::string words(const Mesh& mesh, const Redistribution& redistribution) {
    std::string result;
    for (const RedistributionStep& step : redistribution.steps) {
        if (step.collective) result += text(mesh, *step.collective) + "; ";
    }
    return result;
}

// Parts of an axis of which neither cuts the other, as x:(1)3 and x:(2)3 of 6, have no common pieces: such an axis
// leaves the value before it comes back. What `from` is without those axes (and what lies right of them); nullopt if
// there are none.
std::optional<Sharding> without_crossing(const Sharding& from, const Sharding& to) {
    std::vector<AxisRef> source = used_axes(from), target = used_axes(to);
    std::vector<int> crossing;
    for (const AxisRef& a : source) {
        for (const AxisRef& b : target) {
            if (a.axis != b.axis) continue;
            for (i64 x : {a.pre, a.pre * a.size}) {
                for (i64 y : {b.pre, b.pre * b.size}) {
                    if (x % y != 0 && y % x != 0) crossing.push_back(a.axis);
                }
            }
        }
    }
    if (crossing.empty()) return std::nullopt;
    Sharding middle = from;
    auto crosses = [&](const AxisRef& ref) {
        return std::find(crossing.begin(), crossing.end(), ref.axis) != crossing.end();
    };
    for (DimSharding& dim : middle.dims)
        dim.axes.erase(std::find_if(dim.axes.begin(), dim.axes.end(), crosses), dim.axes.end());
    std::erase_if(middle.partial, crosses);
    return middle;
}

void append(Redistribution& way, const Redistribution& rest) {
    way.steps.insert(way.steps.end(), rest.steps.begin(), rest.steps.end());
    way.seconds += rest.seconds;
    way.wire_bytes_total = add_saturating(way.wire_bytes_total, rest.wire_bytes_total);
    way.collectives += rest.collectives;
}

// Through the shardings that the greedy algorithm passes, from one to the next as the search finds; if that takes no more
// than `most_seconds`.
std::optional<Redistribution> greedy_way(const Mesh& mesh, const Hardware& hardware, const TensorType& global,
                                         const Sharding& from, const Sharding& to, double most_seconds) {
    Redistribution way;
    Sharding at = from;
    for (const GreedyStep& step : greedy_reshard(global.shape, from, to)) {
        if (!divides(global.shape, step.after)) return std::nullopt;
        const RedistributionSpace space(mesh, hardware, global, at, step.after);
        const std::optional<Redistribution> found = search_from(space, space.start());
        if (!found) return std::nullopt;
        append(way, *found);
        if (way.seconds > most_seconds) return std::nullopt;
        at = step.after;
    }
    return same_layout(at, to) ? std::optional(way) : std::nullopt;
}

} // namespace

Sharding sharding_after(const RedistributionStep& step, const Sharding& before) {
    const Collective own{nullptr, {}, ReduceOp::sum, {step.slice}, {}, {}, 0};
    Sharding after = sharding_after(step.collective ? *step.collective : own, before);
    if (!step.collective && step.slice.from >= 0) {
        for (const AxisRef& ref : step.slice.axes) append_axis(after.partial, ref);
        std::sort(after.partial.begin(), after.partial.end());
    }
    return after;
}

Redistribution redistribute(const Mesh& mesh, const Hardware& hardware, const TensorType& global, const Sharding& from,
                            const Sharding& to) {
    if (same_layout(from, to)) return {};
    if (const std::optional<Sharding> middle = without_crossing(from, to)) {
        Redistribution result = redistribute(mesh, hardware, global, from, *middle);
        append(result, redistribute(mesh, hardware, global, *middle, to));
        return result;
    }
    RedistributionSpace space(mesh, hardware, global, from, to);
    std::optional<Redistribution> found = search_from(space, space.start());
    internal_check(found.has_value(), "every sharding is reached from every other");
    if (found->collectives > 1 && from.partial.empty()) {
        // Split over an idle axis in between, large blocks may be cheaper to move: [x,y | -] -> [y | x] with z idle is
        // one permutation of half blocks and a gather.
        RedistributionSpace wider(mesh, hardware, global, from, to, true);
        std::optional<Redistribution> other;
        if (wider.has_idle()) other = search_from(wider, wider.start(), found->seconds);
        if (other && other->seconds < found->seconds * (1 - 1e-9)) found = std::move(other);
        other = greedy_way(mesh, hardware, global, from, to, found->seconds);
        if (other && other->seconds < found->seconds * (1 - 1e-9)) found = std::move(other);
    }
    join_slices(*found);
    return *found;
}

// By the first step: every step out of the start, followed by the cheapest rest.
std::vector<Redistribution> redistribution_alternatives(const Mesh& mesh, const Hardware& hardware,
                                                        const TensorType& global, const Sharding& from,
                                                        const Sharding& to, int limit) {
    std::vector<Redistribution> result = {redistribute(mesh, hardware, global, from, to)};
    if (result[0].steps.empty()) return result;
    RedistributionSpace space(mesh, hardware, global, from, to);
    std::vector<Redistribution> others;
    for (const FirstMoves::Move& first : FirstMoves(space).moves) {
        const std::optional<Redistribution> rest = search_from(space, first.after);
        if (!rest) continue;
        Redistribution way{{space.step(space.start(), first.number)},
                           first.cost.seconds,
                           first.cost.wire_bytes,
                           first.cost.collectives};
        append(way, *rest);
        join_slices(way);
        others.push_back(std::move(way));
    }
    std::stable_sort(others.begin(), others.end(), [](const Redistribution& a, const Redistribution& b) {
        return std::tuple(a.seconds, a.wire_bytes_total, a.collectives) <
               std::tuple(b.seconds, b.wire_bytes_total, b.collectives);
    });
    std::set<std::string> seen = {words(mesh, result[0])};
    for (Redistribution& other : others) {
        if (static_cast<int>(result.size()) >= limit) break;
        if (seen.insert(words(mesh, other)).second) result.push_back(std::move(other));
    }
    return result;
}

} // namespace shard
