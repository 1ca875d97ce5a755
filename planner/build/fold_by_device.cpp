#include "planner/build/fold_by_device.h"

#include "planner/graph/draws.h"
#include "planner/graph/types_of.h"
#include "plans/diagnostics/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

bool fold_by_device(Graph& graph, const Mesh& mesh, MissingAxes missing, Diagnostics& diagnostics) {
    bool ok = true;
    for (Node& node : graph.nodes) {
        if (!node.attributes().has("fold")) continue;
        const std::string& wanted = node.attributes().string("fold");
        const Shape shape = node.attributes().has("drawn") ? Shape(node.attributes().integers("drawn"))
                                                           : drawn_shape(*node.op(), types_of(graph, node.inputs),
                                                                         graph.value(node.outputs[0]).type);
        const i64 dim = node.attributes().integer("fold_dim", 0);
        const std::vector<MeshAxis>::const_iterator axis = std::find_if(
            mesh.axes.begin(), mesh.axes.end(), [&wanted](const MeshAxis& each) { return each.name == wanted; });
        if (axis == mesh.axes.end()) {
            if (missing == MissingAxes::ignore) continue;
            diagnostics
                .error("E0226", node.span, fmt::format("`fold` names '{}', and the mesh has no such axis", wanted))
                .help("name an axis of the layout's mesh; with `missing_axes: ignore` nothing is folded");
            ok = false;
        } else if (dim < 0 || dim >= static_cast<i64>(shape.size()) || shape[dim] % axis->size != 0) {
            diagnostics
                .error("E0226", node.span,
                       fmt::format("{} blocks for mesh axis '{}' do not divide dim {} of {}", axis->size, wanted, dim,
                                   shape_text(shape)))
                .help("`fold_dim` names the dim that is split over the axis");
            ok = false;
        } else {
            std::vector<i64> blocks(shape.size(), 1);
            blocks[dim] = axis->size;
            node.apply().attributes.set("blocks", blocks);
        }
    }
    return ok;
}

} // namespace shard
