#include "cli/svg/show_svg.h"

#include "cli/html/mesh_drawing.h"
#include "cli/html/tiles.h"
#include "cli/report/nouns.h"
#include "cli/svg/svg_sheet.h"
#include "cli/terminal/fold.h"
#include "plans/base/units.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

namespace {

constexpr size_t most_rows = 200; // that anybody looks at in a drawing
constexpr double row_gap = 8, column_gap = 20;

struct DrawnRow {
    std::string name, role, sharding, held, tiles;
    DrawnSize size;
};

} // namespace

std::string show_svg(const Plan& plan, const std::vector<const TensorReport*>& tensors) {
    SvgSheet sheet(plan.mesh);
    sheet.text(0, 12, "title", plan.model);
    sheet.text(0, 32, "soft", fmt::format("{}, on {}", plan.mode, mesh_text(plan.mesh)));
    sheet.skip(14);
    Markup mesh;
    const DrawnSize size = draw_mesh(mesh, plan.mesh);
    sheet.place(0, sheet.bottom(), mesh.take(), size);
    sheet.skip(18);

    std::vector<std::vector<std::string>> alike;
    for (const TensorReport* tensor : tensors)
        alike.push_back({tensor->name, std::string(name(tensor->role)),
                         type_text(tensor->dtype, tensor->shape, tensor->logical), text(plan.mesh, tensor->sharding)});
    std::vector<DrawnRow> rows;
    const std::vector<FoldedRow> folded = fold_rows(alike);
    for (const FoldedRow& row : folded) {
        if (rows.size() == most_rows) break;
        const TensorReport& tensor = *tensors[row.members.front()];
        Markup tiles;
        const DrawnSize drawn = draw_tiles(tiles, plan.mesh, tensor);
        rows.push_back(
            {row.fields[0], row.fields[1], sharding_text(plan.mesh, tensor.sharding),
             fmt::format("a device holds {}, {}", shape_text(tensor.local_shape), human_bytes(tensor.bytes_per_device)),
             tiles.take(), drawn});
    }
    double names = 0, tiles = 0;
    for (const DrawnRow& row : rows) {
        names = std::max({names, 1.1 * text_width(row.name), text_width(row.role)});
        tiles = std::max(tiles, row.size.width);
    }
    for (const DrawnRow& row : rows) {
        const double y = sheet.bottom();
        sheet.place(names + column_gap, y, row.tiles, row.size);
        sheet.text(0, y + 12, "name", row.name);
        sheet.text(0, y + 26, "soft", row.role);
        sheet.text(names + tiles + 2 * column_gap, y + 12, "mono", row.sharding);
        sheet.text(names + tiles + 2 * column_gap, y + 26, "soft", row.held);
        sheet.skip(row_gap);
    }
    if (rows.size() < folded.size())
        sheet.text(0, sheet.bottom() + 12, "soft",
                   fmt::format("and {} more; name those that are to be drawn", folded.size() - rows.size()));
    return sheet.take(fmt::format("{}: which device holds which part", plan.model));
}

} // namespace shard
