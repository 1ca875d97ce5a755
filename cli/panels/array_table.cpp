// Every array: how it is cut, and what of it lies on a device.
#include "cli/html/panel.h"

#include "cli/html/tiles.h"
#include "cli/html/words.h"
#include "cli/report/nouns.h"
#include "cli/summary/sharding_rows.h"
#include "plans/base/units.h"
#include "plans/sharding/axis_lists.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace shard {

namespace {

constexpr size_t most_rows = 250; // what a page holds; the rest is in `plan --only shardings`

// Axes of the mesh over which each tile is held several times.
std::vector<AxisRef> copied_over(const Mesh& mesh, const Sharding& sharding) {
    return without_unit_axes(unused_axes(mesh, used_axes(sharding)));
}

void write_row(Markup& out, const Plan& plan, const ShardingRow& row) {
    const TensorReport& tensor = *row.first;
    const std::vector<AxisRef> copies = copied_over(plan.mesh, tensor.sharding);
    out.open("tbody").open("tr").leaf("td", {}, name(tensor.role));
    write_name(out, row.name);
    out.open("td");
    draw_tiles(out, plan.mesh, tensor);
    out.close().open("td", {{"class", "mono"}});
    write_axes(out, plan.mesh, sharding_text(plan.mesh, tensor.sharding));
    out.leaf("div", {}, type_text(tensor.dtype, tensor.local_shape)).close();
    write_number(out,
                 row.count > 1 ? fmt::format("{} x {}", row.count, human_bytes(tensor.bytes_per_device))
                               : human_bytes(tensor.bytes_per_device),
                 static_cast<double>(row.bytes));
    out.open("td", {{"class", "n"}, {"data-v", std::to_string(total_size(copies))}});
    if (!copies.empty()) {
        out.text(fmt::format("{} over ", total_size(copies)));
        write_axes(out, plan.mesh, axes_text(plan.mesh, copies));
    }
    out.close().open("td");
    write_place(out, plan, tensor.source, row.source);
    out.close().close().close().line();
}

void draw(Markup& out, const PageData& data) {
    ShardingRows arrays = sharding_rows(data.plan, Detail::whole);
    const size_t all = arrays.rows.size();
    if (all > most_rows) { // the largest, of one size the first, in their order
        std::vector<size_t> kept(all);
        std::iota(kept.begin(), kept.end(), 0);
        std::stable_sort(kept.begin(), kept.end(),
                         [&](size_t a, size_t b) { return arrays.rows[a].bytes > arrays.rows[b].bytes; });
        kept.resize(most_rows);
        std::sort(kept.begin(), kept.end());
        std::vector<ShardingRow> largest;
        for (size_t row : kept) largest.push_back(std::move(arrays.rows[row]));
        arrays.rows = std::move(largest);
        out.leaf("p", {{"class", "small"}},
                 fmt::format("The {} largest of {} rows; --only shardings shows all.", arrays.rows.size(), all));
    }
    out.open("div", {{"class", "scroll"}, {"tabindex", "0"}}).open("table", {{"class", "sortable"}});
    write_head(out, {"role", "name", "tiles", "sharding, on a device", "-bytes", "-copies", "source"});
    for (const ShardingRow& row : arrays.rows) write_row(out, data.plan, row);
    out.close().close().line();
}

} // namespace

const PanelDef& panel_array_table() {
    static const PanelDef def = {
        .id = "arrays",
        .title = "Arrays",
        .about = "A box per dim, cut by the mesh axes in their colours; solid is what the first device holds.",
        .order = 5,
        .draw = draw};
    return def;
}

} // namespace shard
