#include "planner/seed/fsdp_dim.h"

namespace shard {

std::optional<AxisRef> fsdp_axis(const Layout& layout) {
    if (!layout.fsdp) return std::nullopt;
    const std::optional<int> axis = layout.mesh.find(layout.fsdp->axis);
    if (!axis || layout.mesh.whole(*axis).size == 1) return std::nullopt;
    return layout.mesh.whole(*axis);
}

FsdpChoice choose_fsdp_dim(const FsdpDecl& fsdp, const AxisRef& axis, const TensorType& type, const Sharding& seed) {
    if (type.elements() < fsdp.min_size) return {FsdpFit::too_small};
    if (overlaps_any(axis, used_axes(seed))) return {FsdpFit::uses_axis};
    FsdpChoice choice{FsdpFit::no_dim};
    for (size_t d = 0; d < type.shape.size(); ++d) {
        if (!seed.dims[d].axes.empty() || type.shape[d] % axis.size != 0) continue;
        if (choice.fit == FsdpFit::splits && type.shape[d] < type.shape[choice.dim]) continue;
        choice = {FsdpFit::splits, d};
    }
    return choice;
}

} // namespace shard
