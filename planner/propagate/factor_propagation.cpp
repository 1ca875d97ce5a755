#include "planner/propagate/factor_propagation.h"

#include <algorithm>
#include <numeric>

namespace shard {

namespace {

// Agreement of the axes gathered so far with those of one more tensor. `grow` says whether the tensor may add to the
// list; it becomes false at the first conflict, so nothing is added behind one.
void merge(std::vector<AxisRef>& gathered, std::span<const AxisRef> axes, bool& grow) {
    const auto stop_at = [&](size_t size) {
        gathered.resize(size);
        grow = false;
    };
    const size_t common = std::min(gathered.size(), axes.size());
    for (size_t i = 0; i < common; ++i) {
        if (gathered[i] == axes[i]) continue;
        if (is_prefix(axes[i], gathered[i])) {
            // The tensor's axis begins ours. If it goes on with another axis, that one disagrees: our rest would have
            // been merged.
            if (i + 1 < axes.size()) {
                gathered[i] = axes[i];
                return stop_at(i + 1);
            }
        } else if (is_prefix(gathered[i], axes[i])) {
            if (!grow || i + 1 < gathered.size()) return stop_at(i + 1);
            gathered[i] = axes[i];
        } else {
            return stop_at(i);
        }
    }
    if (grow && axes.size() > gathered.size())
        gathered.insert(gathered.end(), axes.begin() + static_cast<std::ptrdiff_t>(common), axes.end());
}

} // namespace

std::vector<AxisRef> candidate_axes(const Projection& projection, int factor, Direction direction) {
    std::vector<AxisRef> gathered;
    if (direction == Direction::none) return gathered;
    bool grow = true;
    const auto merge_side = [&](const std::vector<TensorProjection>& tensors) {
        for (const TensorProjection& tensor : tensors)
            if (const FactorSharding* sharding = tensor.find(factor)) merge(gathered, sharding->axes, grow);
    };
    const bool results_first = direction == Direction::backward;
    merge_side(results_first ? projection.results : projection.operands);
    if (direction != Direction::both) grow = false; // the receiving side only restricts
    merge_side(results_first ? projection.operands : projection.results);
    return gathered;
}

std::optional<AxisRef> fit_within(const AxisRef& axis, const TensorProjection& tensor, const FactorSharding& factor,
                                  i64 before, i64 factor_size) {
    std::optional<AxisRef> fitting = prefix_without_overlap(axis, tensor.replicated);
    if (fitting) fitting = prefix_without_overlap(*fitting, tensor.partial);
    if (!fitting) return std::nullopt;
    for (const AxisRef& own : factor.axes)
        if (contains(own, *fitting)) return fitting; // has it already
    if (!factor.closed && factor.overflow.empty()) {
        if (factor.minor_most) return fitting;
        if (factor_size % before == 0) {
            const i64 part = std::gcd(factor_size / before, fitting->size);
            if (part > 1) return AxisRef{fitting->axis, fitting->pre, part};
        }
    }
    // It cannot take the axis, but keeps what it has of it.
    if (!factor.axes.empty() && is_prefix(factor.axes.back(), *fitting)) return factor.axes.back();
    return std::nullopt;
}

std::optional<AxisRef> fit_across(const AxisRef& axis, const TensorProjection& tensor, int factor) {
    std::optional<AxisRef> fitting = axis;
    for (const FactorSharding& other : tensor.factors) {
        if (other.factor == factor) continue;
        fitting = prefix_without_overlap(*fitting, other.overflow);
        if (fitting) fitting = prefix_without_overlap(*fitting, other.axes);
        if (!fitting) return std::nullopt;
    }
    return fitting;
}

PrefixStatus prefix_status(std::span<const AxisRef> first, std::span<const AxisRef> second) {
    if (first.size() > second.size()) return PrefixStatus::none;
    if (first.empty()) return second.empty() ? PrefixStatus::equal : PrefixStatus::strict;
    const size_t last = first.size() - 1;
    if (!std::equal(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(last), second.begin()))
        return PrefixStatus::none;
    if (!is_prefix(first[last], second[last])) return PrefixStatus::none;
    return first.size() == second.size() && first[last] == second[last] ? PrefixStatus::equal : PrefixStatus::strict;
}

} // namespace shard
