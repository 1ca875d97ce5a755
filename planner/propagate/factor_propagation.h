// One propagation step through one op, as a pure function of a projection: finds per factor the axes that its tensors
// agree on, and extends the tensors that have fewer. Axes are only ever added; two tensors that want different axes for
// one factor stay as they are (the conflict is left for a reshard).
//
//     x [a | -], w [- | b], dot "ik,kj->ij":  the result's i gets a, its j gets b.
//
// Two strategies:
//   basic       a factor takes only axes that fit every tensor of the op. An operand's axis that another tensor uses
//               elsewhere is a conflict even where that is harmless.
//   aggressive  every tensor takes what fits itself; where factors compete for an axis, the larger source tensor wins,
//               then (pointwise ops) the factor with more shards, then the earlier source, then the earlier factor.
#pragma once

#include "planner/propagate/projection.h"

namespace shard {

// Which side of an op may give axes. Bits, so that | is the union.
enum class Direction : unsigned char { none = 0, forward = 1, backward = 2, both = 3 };
constexpr Direction operator|(Direction a, Direction b) {
    return static_cast<Direction>(static_cast<unsigned char>(a) | static_cast<unsigned char>(b));
}

// --- what both are made of ---
// The axes that the tensors of a factor agree on, ignoring all conflicts between factors. Only the giving side extends
// the list.
std::vector<AxisRef> candidate_axes(const Projection& projection, int factor, Direction direction);

// How much of `axis` a tensor's own factor can take after shards of the factor that make `before` parts: nullopt if
// nothing.
std::optional<AxisRef> fit_within(const AxisRef& axis, const TensorProjection& tensor, const FactorSharding& factor,
                                  i64 before, i64 factor_size);
// How much of `axis` is free of the tensor's other factors.
std::optional<AxisRef> fit_across(const AxisRef& axis, const TensorProjection& tensor, int factor);

// Cuts the list at the first axis that does not fit as a whole; fit(axis, parts made so far) returns what fits.
template<typename Fit>
void truncate_to_fit(std::vector<AxisRef>& axes, Fit fit) {
    i64 before = 1;
    for (size_t i = 0; i < axes.size(); ++i) {
        const std::optional<AxisRef> fitting = fit(axes[i], before);
        if (!fitting) {
            axes.resize(i);
            return;
        }
        if (*fitting != axes[i]) {
            axes[i] = *fitting;
            axes.resize(i + 1);
            return;
        }
        before *= fitting->size;
    }
}

enum class PrefixStatus { none, strict, equal };
// Is `first` a major part of `second`? The last axis of `first` may be a sub-axis that begins the one of `second`.
PrefixStatus prefix_status(std::span<const AxisRef> first, std::span<const AxisRef> second);

} // namespace shard
