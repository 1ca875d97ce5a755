#include "plans/sharding/mesh.h"

#include "plans/base/parse_number.h"
#include "plans/sharding/axis_stride.h"

#include <algorithm>

#include <fmt/format.h>

namespace shard {

namespace {

i64 axis_size(const Mesh& mesh, int axis) { return mesh.axes[axis].size; }

} // namespace

i64 Mesh::device_count() const {
    i64 count = 1;
    for (const MeshAxis& axis : axes)
        internal_check(!__builtin_mul_overflow(count, axis.size, &count), "mesh too large");
    return count;
}

std::optional<int> Mesh::find(std::string_view axis_name) const {
    for (size_t a = 0; a < axes.size(); ++a)
        if (axes[a].name == axis_name) return static_cast<int>(a);
    return std::nullopt;
}

AxisRef Mesh::whole(int axis) const { return {axis, 1, axis_size(*this, axis)}; }

i64 Mesh::device_id(i64 position) const { return device_ids.empty() ? position : device_ids[position]; }

std::vector<i64> coordinates_of(const Mesh& mesh, i64 position) {
    std::vector<i64> coordinates(mesh.axes.size());
    for (size_t a = mesh.axes.size(); a-- > 0;) {
        coordinates[a] = position % mesh.axes[a].size;
        position /= mesh.axes[a].size;
    }
    return coordinates;
}

i64 position_of(const Mesh& mesh, std::span<const i64> coordinates) {
    i64 position = 0;
    for (size_t a = 0; a < mesh.axes.size(); ++a) position = position * mesh.axes[a].size + coordinates[a];
    return position;
}

i64 coordinate(const Mesh& mesh, std::span<const i64> coordinates, const AxisRef& ref) {
    return coordinates[ref.axis] / stride_of(mesh, ref) % ref.size;
}

void set_coordinate(const Mesh& mesh, std::span<i64> coordinates, const AxisRef& ref, i64 value) {
    const i64 now = coordinate(mesh, coordinates, ref);
    coordinates[ref.axis] += (value - now) * stride_of(mesh, ref);
}

i64 linear_coordinate(const Mesh& mesh, std::span<const i64> coordinates, std::span<const AxisRef> refs) {
    i64 index = 0;
    for (const AxisRef& ref : refs) index = index * ref.size + coordinate(mesh, coordinates, ref);
    return index;
}

void set_linear_coordinate(const Mesh& mesh, std::span<i64> coordinates, std::span<const AxisRef> refs, i64 index) {
    for (size_t r = refs.size(); r-- > 0;) {
        set_coordinate(mesh, coordinates, refs[r], index % refs[r].size);
        index /= refs[r].size;
    }
}

std::vector<i64> group_of(const Mesh& mesh, i64 position, std::span<const AxisRef> refs) {
    std::vector<i64> coordinates = coordinates_of(mesh, position);
    const i64 size = total_size(refs);
    std::vector<i64> group;
    group.reserve(size);
    for (i64 rank = 0; rank < size; ++rank) {
        set_linear_coordinate(mesh, coordinates, refs, rank);
        group.push_back(position_of(mesh, coordinates));
    }
    return group;
}

i64 total_size(std::span<const AxisRef> refs) {
    i64 size = 1;
    for (const AxisRef& ref : refs) size *= ref.size;
    return size;
}

bool is_whole(const Mesh& mesh, const AxisRef& ref) { return ref == mesh.whole(ref.axis); }

bool overlaps(const AxisRef& a, const AxisRef& b) {
    if (a == b) return true; // also for axes of size 1, which cover nothing
    return a.axis == b.axis && a.pre < end_of(b) && b.pre < end_of(a);
}

bool overlaps_any(const AxisRef& ref, std::span<const AxisRef> others) {
    return std::any_of(others.begin(), others.end(), [&](const AxisRef& other) { return overlaps(ref, other); });
}

bool contains(const AxisRef& outer, const AxisRef& inner) {
    return outer.axis == inner.axis && inner.pre % outer.pre == 0 && end_of(outer) % end_of(inner) == 0;
}

bool is_prefix(const AxisRef& prefix, const AxisRef& of) {
    return prefix.axis == of.axis && prefix.pre == of.pre && of.size % prefix.size == 0;
}

std::optional<AxisRef> prefix_without_overlap(const AxisRef& ref, std::span<const AxisRef> others) {
    AxisRef prefix = ref;
    for (const AxisRef& other : others) {
        if (!overlaps(prefix, other)) continue;
        // Only a part that begins inside `ref`, at a place where `ref` can be cut, leaves a prefix.
        if (other.pre <= prefix.pre || other.pre % prefix.pre != 0) return std::nullopt;
        const i64 size = other.pre / prefix.pre;
        if (prefix.size % size != 0) return std::nullopt;
        prefix.size = size;
    }
    return prefix;
}

std::optional<AxisRef> rest_after(const AxisRef& ref, const AxisRef& prefix) {
    internal_check(is_prefix(prefix, ref), "rest_after: not a prefix");
    if (prefix == ref) return std::nullopt;
    return AxisRef{ref.axis, end_of(prefix), ref.size / prefix.size};
}

void append_axis(std::vector<AxisRef>& list, const AxisRef& ref) {
    if (!list.empty() && list.back().axis == ref.axis && end_of(list.back()) == ref.pre)
        list.back().size *= ref.size;
    else
        list.push_back(ref);
}

std::vector<AxisRef> unused_axes(const Mesh& mesh, std::span<const AxisRef> used) {
    std::vector<AxisRef> sorted(used.begin(), used.end());
    std::sort(sorted.begin(), sorted.end());
    std::vector<AxisRef> unused;
    size_t next = 0;
    for (int axis = 0; axis < static_cast<int>(mesh.axes.size()); ++axis) {
        i64 covered = 1; // [1, covered) of this axis is dealt with
        for (; next < sorted.size() && sorted[next].axis == axis; ++next) {
            if (sorted[next].pre > covered) unused.push_back({axis, covered, sorted[next].pre / covered});
            covered = std::max(covered, end_of(sorted[next]));
        }
        if (covered < axis_size(mesh, axis)) unused.push_back({axis, covered, axis_size(mesh, axis) / covered});
    }
    return unused;
}

std::string text(const Mesh& mesh, const AxisRef& ref) {
    const std::string& name = mesh.axes[ref.axis].name;
    return is_whole(mesh, ref) ? name : fmt::format("{}:({}){}", name, ref.pre, ref.size);
}

std::string text(const Mesh& mesh, std::span<const AxisRef> refs) {
    std::string result;
    for (const AxisRef& ref : refs) {
        if (!result.empty()) result += ',';
        result += text(mesh, ref);
    }
    return result;
}

std::optional<AxisRef> parse_axis_ref(const Mesh& mesh, std::string_view text) {
    if (const std::optional<int> axis = mesh.find(text)) return mesh.whole(*axis);
    const size_t colon = text.rfind(":(");
    const size_t close = text.rfind(')');
    if (colon == std::string_view::npos || close == std::string_view::npos || close < colon) return std::nullopt;
    const std::optional<int> axis = mesh.find(text.substr(0, colon));
    const std::optional<i64> pre = parse_number<i64>(text.substr(colon + 2, close - colon - 2));
    const std::optional<i64> size = parse_number<i64>(text.substr(close + 1));
    if (!axis || !pre || !size || *pre < 1 || *size < 2) return std::nullopt;
    const i64 whole = axis_size(mesh, *axis);
    // Dividing first keeps products of large numbers from overflowing.
    if (whole % *pre != 0 || (whole / *pre) % *size != 0 || *size == whole) return std::nullopt;
    return AxisRef{*axis, *pre, *size};
}

} // namespace shard
