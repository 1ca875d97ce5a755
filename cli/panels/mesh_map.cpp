// The mesh, and what its axes cross.
#include "cli/html/panel.h"

#include "cli/html/mesh_drawing.h"
#include "cli/html/words.h"
#include "plans/base/units.h"
#include "plans/collective/link_levels.h"

#include <fmt/format.h>

namespace shard {

namespace {

void draw(Markup& out, const PageData& data) {
    const Mesh& mesh = data.plan.mesh;
    out.open("div", {{"class", "scroll"}, {"tabindex", "0"}});
    draw_mesh(out, mesh);
    out.close().line();
    const Hardware& hardware = *data.compilation.hardware;
    out.open("div", {{"class", "scroll"}, {"tabindex", "0"}}).open("table");
    write_head(out, {"axis", "-devices", "crosses", "-one way, a device"});
    out.open("tbody");
    for (size_t i = 0; i < mesh.axes.size(); ++i) {
        const AxisRef axis = mesh.whole(static_cast<int>(i));
        std::string links, bandwidths;
        for (const LinkLevel& level : levels_of(mesh, hardware, std::span(&axis, 1))) {
            links += fmt::format("{}{} {}", links.empty() ? "" : ", ", level.link->name, level.n);
            bandwidths += fmt::format("{}{:.3g} GB/s", bandwidths.empty() ? "" : ", ", level.link->bandwidth / 1e9);
        }
        out.open("tr").open("td").leaf("b", {{"class", axis_class(axis.axis)}}, mesh.axes[i].name).close();
        write_number(out, grouped(mesh.axes[i].size), 0);
        out.leaf("td", {}, links).leaf("td", {{"class", "n"}}, bandwidths).close().line();
    }
    out.close().close().close().line();
}

} // namespace

const PanelDef& panel_mesh_map() {
    static const PanelDef def = {.id = "mesh",
                                 .title = "Mesh",
                                 .about = "Devices by their place in the mesh, and the links between them.",
                                 .order = 7,
                                 .draw = draw};
    return def;
}

} // namespace shard
