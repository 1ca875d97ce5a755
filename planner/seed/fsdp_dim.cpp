#include "planner/seed/fsdp_dim.h"

#include "plans/sharding/axis_lists.h"

namespace shard {

std::vector<AxisRef> fsdp_axes(const Layout& layout) {
    std::vector<AxisRef> axes;
    if (!layout.fsdp) return axes;
    for (const Name& name : layout.fsdp->axes) {
        const std::optional<int> axis = layout.mesh.find(name.text);
        if (axis && layout.mesh.whole(*axis).size > 1) axes.push_back(layout.mesh.whole(*axis));
    }
    return axes;
}

FsdpChoice choose_fsdp_dim(const FsdpDecl& fsdp, std::span<const AxisRef> axes, const TensorType& type,
                           const Sharding& seed) {
    if (type.elements() < fsdp.min_size) return {FsdpFit::too_small, 0, {}};
    FsdpChoice choice{FsdpFit::no_dim, 0, {}};
    const std::vector<AxisRef> used = used_axes(seed);
    for (const AxisRef& axis : axes)
        if (!overlaps_any(axis, used)) choice.axes.push_back(axis);
    if (choice.axes.empty()) return {FsdpFit::uses_axes, 0, {}};
    const i64 devices = total_size(choice.axes);
    for (size_t d = 0; d < type.shape.size(); ++d) {
        if (!seed.dims[d].axes.empty() || type.shape[d] % devices != 0) continue;
        if (choice.fit == FsdpFit::splits && type.shape[d] < type.shape[choice.dim]) continue;
        choice.fit = FsdpFit::splits;
        choice.dim = d;
    }
    return choice;
}

} // namespace shard
