#include "plans/collective/link_levels.h"

#include "plans/base/division.h"
#include "plans/sharding/axis_lists.h"
#include "plans/sharding/axis_stride.h"

#include <algorithm>

namespace shard {

namespace {

// `n` coordinates of a mesh axis, neighbours `step` coordinates of it and `apart` positions of the mesh from each
// other.
struct Run {
    i64 n = 1, step = 1, apart = 1;

    // How many lie in one domain of `devices` (0: all devices). Where domains do not divide evenly the fullest counts.
    i64 within(i64 devices) const { return devices == 0 ? n : std::clamp<i64>(devices / apart, 1, n); }
    // What goes on beyond domains of `inner` of them.
    Run beyond(i64 inner) const { return {ceil_div(n, inner), step * inner, apart * inner}; }
};

// Positions between neighbours along the axis, of the devices that are numbered over links up to its own.
i64 apart(const Mesh& mesh, const Hardware& hardware, int axis) {
    i64 positions = 1;
    for (size_t right = static_cast<size_t>(axis) + 1; right < mesh.axes.size(); ++right)
        if (link_of(hardware, mesh.axes[right]) <= link_of(hardware, mesh.axes[axis]))
            positions *= mesh.axes[right].size;
    return positions;
}

} // namespace

std::vector<LinkLine> lines_of(const Mesh& mesh, const Hardware& hardware, const AxisRef& ref) {
    std::vector<LinkLine> lines;
    const MeshAxis& axis = mesh.axes[ref.axis];
    const i64 stride = stride_of(mesh, ref), neighbours = apart(mesh, hardware, ref.axis);
    Run part{ref.size, stride, stride * neighbours}, whole{axis.size, 1, neighbours};
    for (size_t l = link_of(hardware, axis); part.n > 1; ++l) {
        const Link& link = hardware.links[l];
        const bool last = !axis.link.empty() || l + 1 == hardware.links.size();
        const i64 here = part.within(last ? 0 : link.devices), extent = whole.within(last ? 0 : link.devices);
        if (here > 1) {
            const bool wraps = link.wrap && here == extent && here >= link.wrap_from;
            lines.push_back({l, ref.axis, here, part.step, std::max<i64>(1, part.step / whole.step), wraps});
        }
        part = part.beyond(here);
        whole = whole.beyond(extent);
    }
    return lines;
}

std::vector<LinkLevel> levels_of(const Mesh& mesh, const Hardware& hardware, std::span<const AxisRef> axes) {
    std::vector<LinkLevel> levels(hardware.links.size());
    for (size_t l = 0; l < levels.size(); ++l) levels[l].link = &hardware.links[l];
    std::vector<AxisRef> sorted(axes.begin(), axes.end());
    std::sort(sorted.begin(), sorted.end());
    for (const AxisRef& ref : merged(sorted)) {
        for (const LinkLine& line : lines_of(mesh, hardware, ref)) {
            levels[line.link].n *= line.n;
            levels[line.link].lines.push_back(line);
        }
    }
    i64 inside = 1;
    for (LinkLevel& level : levels) {
        level.inside = inside;
        inside *= level.n;
    }
    std::erase_if(levels, [](const LinkLevel& level) { return level.n == 1; });
    return levels;
}

} // namespace shard
