// The device mesh: named axes, outer to inner, and the algebra of axes and sub-axes.
//
// A device has a *position*, its row-major index over the axes (the last axis varies fastest), and an *id*,
// device_ids[position] (the position itself when device_ids is empty). mesh {data:2, model:4}: position 5 = (1, 1).
#pragma once

#include "plans/base/base.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shard {

struct MeshAxis {
    std::string name;
    i64 size = 1;
    std::string link; // name of a link of the hardware profile; empty = its default
    bool operator==(const MeshAxis&) const = default;
};

// A whole mesh axis, or the sub-axis of `size` left of which `pre` parts lie: reshape the axis of size n into
// [pre, size, n / (pre * size)] and take the middle. Written "a" or "a:(pre)size". A whole axis has pre 1 and size n.
struct AxisRef {
    int axis = 0;
    i64 pre = 1;
    i64 size = 1;
    bool operator==(const AxisRef&) const = default;
    std::strong_ordering operator<=>(const AxisRef&) const = default; // by axis, then pre, then size
};

struct Mesh {
    std::vector<MeshAxis> axes;
    std::vector<i64> device_ids; // empty = identity

    i64 device_count() const;
    std::optional<int> find(std::string_view axis_name) const;
    AxisRef whole(int axis) const;
    i64 device_id(i64 position) const;
    bool operator==(const Mesh&) const = default;
};

// Position <-> coordinates, one per axis.
std::vector<i64> coordinates_of(const Mesh& mesh, i64 position);
i64 position_of(const Mesh& mesh, std::span<const i64> coordinates);

// The coordinate along a whole or sub-axis, in [0, ref.size).
i64 coordinate(const Mesh& mesh, std::span<const i64> coordinates, const AxisRef& ref);
// Sets that coordinate and leaves the rest of the axis as it is.
void set_coordinate(const Mesh& mesh, std::span<i64> coordinates, const AxisRef& ref, i64 value);
// Mixed-radix index over `refs`, major to minor, in [0, product of sizes).
i64 linear_coordinate(const Mesh& mesh, std::span<const i64> coordinates, std::span<const AxisRef> refs);
void set_linear_coordinate(const Mesh& mesh, std::span<i64> coordinates, std::span<const AxisRef> refs, i64 index);
// Positions of the devices that differ from `position` only along `refs`, ordered by linear coordinate (so the
// device's own rank in its group is linear_coordinate(...)).
std::vector<i64> group_of(const Mesh& mesh, i64 position, std::span<const AxisRef> refs);

// --- algebra of axis references ---
i64 total_size(std::span<const AxisRef> refs);
bool is_whole(const Mesh& mesh, const AxisRef& ref); // and no part of an axis
// Whether some device coordinate counts for both. An axis of size 1 overlaps itself.
bool overlaps(const AxisRef& a, const AxisRef& b);
bool overlaps_any(const AxisRef& ref, std::span<const AxisRef> others);
bool contains(const AxisRef& outer, const AxisRef& inner); // every part of inner is part of outer
bool is_prefix(const AxisRef& prefix, const AxisRef& of);  // same axis and pre, size divides
// The longest prefix of `ref` that overlaps none of `others`; nullopt if there is none.
std::optional<AxisRef> prefix_without_overlap(const AxisRef& ref, std::span<const AxisRef> others);
// What is left of `ref` right of its prefix (same pre); nullopt if they are equal.
std::optional<AxisRef> rest_after(const AxisRef& ref, const AxisRef& prefix);
// Appends to a major-to-minor list, merging with the last entry if the two are consecutive parts of one axis.
void append_axis(std::vector<AxisRef>& list, const AxisRef& ref);
// All of the mesh that is covered by none of `used`, in mesh order.
std::vector<AxisRef> unused_axes(const Mesh& mesh, std::span<const AxisRef> used);

std::string text(const Mesh& mesh, const AxisRef& ref);                         // "model" or "model:(1)2"
std::string text(const Mesh& mesh, std::span<const AxisRef> refs);              // "data,model"
std::optional<AxisRef> parse_axis_ref(const Mesh& mesh, std::string_view text); // of either form

} // namespace shard
