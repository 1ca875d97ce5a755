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

namespace shard {

namespace {

struct Visit {
    MoveCost cost;
    Placement previous;
    RedistributionStep step;
};

Redistribution path_to(const std::map<Placement, Visit>& visits, const Placement& start, const Placement& goal) {
    Redistribution result;
    const MoveCost& cost = visits.at(goal).cost;
    result.seconds = cost.seconds;
    result.wire_bytes_total = cost.wire_bytes;
    result.collectives = cost.collectives;
    for (Placement at = goal; at != start;) {
        const Visit& visit = visits.at(at);
        result.steps.push_back(visit.step);
        at = visit.previous;
    }
    std::reverse(result.steps.begin(), result.steps.end());
    return result;
}

constexpr int most_placements = 600;

// The cheapest way in which no state holds more than `most_bytes`.
std::optional<Redistribution> search(const RedistributionSpace& space, const Placement& start, i64 most_bytes) {
    std::map<Placement, Visit> visits;
    std::set<std::pair<MoveCost, Placement>> queue; // by the least cost of a whole way through the placement
    visits[start] = {};
    queue.insert({space.estimate({}, space.at_least(start)), start});
    for (int looked_at = 0; !queue.empty(); ++looked_at) {
        Placement here = queue.begin()->second;
        queue.erase(queue.begin());
        if (here == space.goal() || (looked_at >= most_placements && visits.count(space.goal()) > 0)) {
            return path_to(visits, start, space.goal());
        }
        const MoveCost cost = visits.at(here).cost;
        for (PlacementMove& move : space.moves(here)) {
            if (space.local_bytes(move.after) > most_bytes) continue;
            MoveCost total = cost + move.cost;
            MoveCost rest = space.at_least(move.after);
            std::map<Placement, Visit>::iterator known = visits.find(move.after);
            if (known != visits.end()) {
                if (space.estimate(known->second.cost, {}) <= space.estimate(total, {})) continue;
                queue.erase({space.estimate(known->second.cost, rest), move.after});
            }
            queue.insert({space.estimate(total, rest), move.after});
            visits[move.after] = {total, here, std::move(move.step)};
        }
    }
    return std::nullopt;
}

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

i64 larger_end(const RedistributionSpace& space) {
    return std::max(space.local_bytes(space.start()), space.local_bytes(space.goal()));
}

std::optional<Redistribution> search_from(const RedistributionSpace& space, const Placement& start) {
    std::optional<Redistribution> found = search(space, start, larger_end(space));
    if (!found) found = search(space, start, std::numeric_limits<i64>::max());
    return found;
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

// Through the shardings that the greedy algorithm passes, from one to the next as the search finds.
std::optional<Redistribution> greedy_way(const Mesh& mesh, const Hardware& hardware, const TensorType& global,
                                         const Sharding& from, const Sharding& to) {
    Redistribution way;
    Sharding at = from;
    for (const GreedyStep& step : greedy_reshard(global.shape, from, to)) {
        if (!divides(global.shape, step.after)) return std::nullopt;
        const RedistributionSpace space(mesh, hardware, global, at, step.after);
        const std::optional<Redistribution> found = search_from(space, space.start());
        if (!found) return std::nullopt;
        append(way, *found);
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
        std::optional<Redistribution> other = search_from(wider, wider.start());
        if (other && other->seconds < found->seconds * (1 - 1e-9)) found = std::move(other);
        other = greedy_way(mesh, hardware, global, from, to);
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
    for (const PlacementMove& first : space.moves(space.start())) {
        const std::optional<Redistribution> rest = search_from(space, first.after);
        if (!rest) continue;
        Redistribution way{{first.step}, first.cost.seconds, first.cost.wire_bytes, first.cost.collectives};
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
