// Operations on lists of axis references that collectives and redistributions share.
#pragma once

#include "plans/sharding/sharding.h"

namespace shard {

// Takes `suffix` off the minor end of a major-to-minor list: {a:(1)4, b} minus {a:(2)2, b} is {a:(1)2}. Internal error
// if it is not there.
void drop_suffix(std::vector<AxisRef>& list, std::span<const AxisRef> suffix);

// What of `refs` is covered by none of `removed`, which lie inside them: {a:(1)8} minus {a:(2)2} is {a:(1)2, a:(4)2}.
std::vector<AxisRef> without(std::span<const AxisRef> refs, std::span<const AxisRef> removed);

// `refs` cut wherever one of `marks` begins or ends inside: {a} of size 8 cut at {a:(2)2} is {a:(1)2, a:(2)2, a:(4)2}.
// Internal error if two cuts of an axis do not divide each other (a:(1)2 and a:(1)3 of an axis of 6).
std::vector<AxisRef> cut(std::span<const AxisRef> refs, std::span<const AxisRef> marks);

// Merges consecutive parts of one axis.
std::vector<AxisRef> merged(std::span<const AxisRef> refs);

// Without axes of size 1: they split nothing, do not propagate, and clutter every sharding that shows them.
std::vector<AxisRef> without_unit_axes(std::span<const AxisRef> axes);
Sharding without_unit_axes(const Sharding& sharding);

// Of one shape: an axis splits both, along different dims.
bool lie_across(const Sharding& a, const Sharding& b);

// Two lists of the same total size, cut into pairs of pieces of the same size, major to minor. A pair holds several
// pieces only where no cut exists: {a2, b3} against {b3, a2} is one pair.
struct AlignedAxes {
    std::vector<AxisRef> source, target;
};
std::vector<AlignedAxes> align_axes(std::span<const AxisRef> source, std::span<const AxisRef> target);

} // namespace shard
