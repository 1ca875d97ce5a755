#include "planner/propagate/factor_propagation_aggressive.h"

#include "planner/propagate/factor_propagation.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace shard {

namespace {

using AxesByFactor = std::vector<std::vector<AxisRef>>;

struct Source {
    i64 tensor = -1;
    i64 size = -1; // elements
};

// Per factor the largest tensor whose own axes begin with the candidate: where the axes would come from.
std::vector<Source> find_sources(const Projection& projection, const IndexRule& rule, const AxesByFactor& candidates) {
    std::vector<Source> sources(rule.factors.size());
    for (size_t t = 0; t < projection.count(); ++t) {
        const TensorProjection& tensor = projection.tensor(t);
        i64 size = 1;
        for (const FactorSharding& sharding : tensor.factors) size *= rule.factors[sharding.factor].size;
        for (const FactorSharding& sharding : tensor.factors) {
            const std::vector<AxisRef>& candidate = candidates[sharding.factor];
            Source& source = sources[sharding.factor];
            if (candidate.empty() || size <= source.size) continue;
            if (prefix_status(candidate, sharding.axes) != PrefixStatus::none) source = {static_cast<i64>(t), size};
        }
    }
    return sources;
}

// The order in which factors may claim axes.
std::vector<int> order_factors(const Projection& projection, const IndexRule& rule, const AxesByFactor& candidates,
                               bool pointwise) {
    const std::vector<Source> sources = find_sources(projection, rule, candidates);
    const auto key = [&](int factor) {
        const size_t f = factor;
        const i64 shards = pointwise ? total_size(candidates[f]) : 0;
        return std::make_tuple(-sources[f].size, -shards, sources[f].tensor, factor);
    };
    std::vector<int> order(rule.factors.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
    return order;
}

// What a tensor can take of a candidate, given what its other factors hold by now; empty if that is not more than it
// has.
std::vector<AxisRef> take(const TensorProjection& tensor, const FactorSharding& own, std::vector<AxisRef> axes,
                          i64 size) {
    truncate_to_fit(axes, [&](const AxisRef& axis, i64 before) { return fit_within(axis, tensor, own, before, size); });
    if (prefix_status(own.axes, axes) != PrefixStatus::strict) return {};
    truncate_to_fit(axes, [&](const AxisRef& axis, i64) { return fit_across(axis, tensor, own.factor); });
    return axes;
}

} // namespace

bool propagate_aggressive(Projection& projection, const IndexRule& rule, std::span<const Direction> directions,
                          bool pointwise) {
    AxesByFactor candidates;
    bool any = false;
    for (size_t f = 0; f < rule.factors.size(); ++f) {
        candidates.push_back(candidate_axes(projection, static_cast<int>(f), directions[f]));
        any = any || !candidates.back().empty();
    }
    if (!any) return false;

    const std::vector<int> order = order_factors(projection, rule, candidates, pointwise);
    bool changed = false;
    const auto update = [&](TensorProjection& tensor, bool is_operand) {
        for (int factor : order) {
            const size_t f = factor;
            FactorSharding* own = tensor.find(factor);
            if (own == nullptr || candidates[f].empty()) continue;
            std::vector<AxisRef> axes = take(tensor, *own, candidates[f], rule.factors[f].size);
            // Spreading sideways to an operand is of no use where the result did not take the axes.
            if (is_operand && pointwise)
                for (const TensorProjection& result : projection.results)
                    if (const FactorSharding* got = result.find(factor))
                        if (prefix_status(got->axes, axes) == PrefixStatus::strict) axes = got->axes;
            if (prefix_status(own->axes, axes) != PrefixStatus::strict) continue;
            own->axes = std::move(axes);
            changed = true;
        }
    };
    for (TensorProjection& tensor : projection.results) update(tensor, false);
    for (TensorProjection& tensor : projection.operands) update(tensor, true);
    return changed;
}

} // namespace shard
