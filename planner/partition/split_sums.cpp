#include "planner/partition/split_sums.h"

#include "planner/propagate/projection.h"

#include <algorithm>

namespace shard {

namespace {

using AxisList = std::vector<AxisRef>;

// The axes over which all operands that have the factor split it alike, from the first on.
AxisList agreed_axes(const IndexRule& rule, const ComputeQuery& query, size_t factor) {
    std::optional<AxisList> agreed;
    for (size_t i = 0; i < rule.operands.size(); ++i) {
        const TensorProjection projection = project(rule, rule.operands[i], query.operand_kept[i]);
        for (const FactorSharding& part : projection.factors) {
            if (static_cast<size_t>(part.factor) != factor) continue;
            if (!agreed) agreed = part.axes;
            const auto differ = std::mismatch(agreed->begin(), agreed->end(), part.axes.begin(), part.axes.end());
            agreed->erase(differ.first, agreed->end());
        }
    }
    return agreed.value_or(AxisList());
}

} // namespace

void keep_split_sums(const IndexRule& rule, const ComputeQuery& query, std::vector<std::vector<AxisList>>& candidates) {
    AxisList used;
    for (size_t f = 0; f < rule.factors.size(); ++f) {
        if (rule.factors[f].kind != FactorKind::reduction) continue;
        const AxisList agreed = agreed_axes(rule, query, f);
        std::vector<AxisList>& list = candidates[f];
        const auto is_used = [&](const AxisRef& axis) { return overlaps_any(axis, used); };
        if (agreed.empty() || std::any_of(agreed.begin(), agreed.end(), is_used) ||
            std::find(list.begin(), list.end(), agreed) == list.end())
            continue;
        list = {agreed};
        used.insert(used.end(), agreed.begin(), agreed.end());
    }
}

bool is_scattered_at_once(const ComputeQuery& query, int operand) {
    const AxisList split = used_axes(query.results_kept[0]);
    const AxisList& partial = query.operands[static_cast<size_t>(operand)].pending->partial;
    return std::all_of(partial.begin(), partial.end(), [&](const AxisRef& axis) { return overlaps_any(axis, split); });
}

} // namespace shard
