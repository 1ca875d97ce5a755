#include "cli/report/device_grid.h"

#include "cli/report/nouns.h"
#include "cli/terminal/wrap.h"
#include "plans/base/printable.h"
#include "plans/base/units.h"
#include "plans/sharding/axis_lists.h"

#include <algorithm>
#include <fmt/format.h>
#include <sstream>

namespace shard {

std::string id_list(const std::vector<i64>& ids) {
    constexpr size_t most = 8; // runs shown
    std::vector<std::string> runs;
    for (size_t i = 0; i < ids.size();) {
        size_t end = i + 1;
        while (end < ids.size() && ids[end] == ids[end - 1] + 1) ++end;
        if (end - i > 2)
            runs.push_back(fmt::format("{}-{}", ids[i], ids[end - 1]));
        else
            for (size_t k = i; k < end; ++k) runs.push_back(std::to_string(ids[k]));
        i = end;
    }
    if (runs.size() <= most) return fmt::format("{}", fmt::join(runs, ","));
    runs.resize(most - 2);
    return fmt::format("{},... {} devices", fmt::join(runs, ","), ids.size());
}

std::vector<i64> holders(const Mesh& mesh, const Sharding& sharding, const std::vector<i64>& part) {
    std::vector<i64> coordinates(mesh.axes.size(), 0);
    std::vector<AxisRef> used;
    for (size_t d = 0; d < sharding.dims.size(); ++d) {
        const std::vector<AxisRef>& axes = sharding.dims[d].axes;
        set_linear_coordinate(mesh, coordinates, axes, part[d]);
        used.insert(used.end(), axes.begin(), axes.end());
    }
    std::vector<AxisRef> free = unused_axes(mesh, used);
    std::vector<i64> ids;
    for (i64 position : group_of(mesh, position_of(mesh, coordinates), free)) ids.push_back(mesh.device_id(position));
    std::sort(ids.begin(), ids.end());
    return ids;
}

namespace {

// Of too many devices, which nobody would read either, only their number is said.
std::string holders_text(const Mesh& mesh, const Sharding& sharding, const std::vector<i64>& part,
                         std::string_view before = "") {
    constexpr i64 most_listed = 1 << 16;
    i64 parts = 1;
    for (const DimSharding& dim : sharding.dims) parts *= shard_count(dim);
    const i64 copies = mesh.device_count() / parts;
    if (copies > most_listed) return fmt::format("{} devices", copies);
    return fmt::format("{}{}", before, id_list(holders(mesh, sharding, part)));
}

constexpr i64 most_parts = 8; // rows or columns of a grid before the middle is left out

// Indices of the parts of a dim that are drawn; -1 stands for those left out.
std::vector<i64> shown_parts(i64 count, i64 most = most_parts) {
    std::vector<i64> parts;
    if (count <= most) {
        for (i64 i = 0; i < count; ++i) parts.push_back(i);
        return parts;
    }
    for (i64 i = 0; i < most - 2; ++i) parts.push_back(i);
    parts.push_back(-1);
    parts.push_back(count - 1);
    return parts;
}

// The last parts of a dim that is padded have fewer elements, or none.
std::string range_text(i64 part, const TensorReport& tensor, size_t dim) {
    if (part < 0) return "...";
    const i64 size = tensor.local_shape[dim], first = part * size, last = std::min(first + size, tensor.shape[dim]) - 1;
    if (last < first) return "padding";
    return first == last ? std::to_string(first) : fmt::format("{}..{}", first, last);
}

std::string centered(const std::string& text, size_t width) {
    size_t left = (width - text.size()) / 2;
    return std::string(left, ' ') + text + std::string(width - text.size() - left, ' ');
}

std::string dim_name(const TensorReport& tensor, size_t dim) {
    bool named = dim < tensor.logical.size() && !tensor.logical[dim].empty();
    return named ? tensor.logical[dim] : fmt::format("dim {}", dim);
}

// Rows are dim 0 and columns dim 1; a tensor of rank 1 has one row.
std::string grid(const Mesh& mesh, const TensorReport& tensor, const Sharding& sharding, const Paint& paint, i64 most) {
    bool flat = tensor.shape.size() == 1;
    size_t column_dim = flat ? 0 : 1;
    std::vector<i64> rows = flat ? std::vector<i64>{0} : shown_parts(shard_count(sharding.dims[0]));
    std::vector<i64> columns = shown_parts(shard_count(sharding.dims[column_dim]), most);
    std::vector<std::string> row_labels;
    size_t label_width = 0;
    for (i64 row : rows) {
        row_labels.push_back(flat ? "" : range_text(row, tensor, 0));
        label_width = std::max(label_width, row_labels.back().size());
    }
    std::vector<std::vector<std::string>> cells(rows.size());
    std::vector<size_t> widths;
    for (i64 column : columns) {
        size_t width = range_text(column, tensor, column_dim).size();
        for (size_t r = 0; r < rows.size(); ++r) {
            bool left_out = rows[r] < 0 || column < 0;
            std::vector<i64> part = flat ? std::vector<i64>{column} : std::vector<i64>{rows[r], column};
            cells[r].push_back(left_out ? "..." : holders_text(mesh, sharding, part));
            width = std::max(width, cells[r].back().size() + 2);
        }
        widths.push_back(width);
    }
    std::string margin(label_width + 3, ' ');
    std::string rule = margin, header = margin;
    const std::vector<AxisRef>& row_axes = sharding.dims[0].axes;
    const std::vector<AxisRef>& column_axes = sharding.dims[column_dim].axes;
    std::string_view column_color = column_axes.empty() ? "" : axis_color(column_axes.front().axis);
    std::string_view row_color = flat || row_axes.empty() ? "" : axis_color(row_axes.front().axis);
    for (size_t c = 0; c < columns.size(); ++c) {
        rule += "+" + std::string(widths[c], '-');
        header += " " + paint(column_color, centered(range_text(columns[c], tensor, column_dim), widths[c]));
    }
    rule += "+\n";
    std::string out;
    auto along = [&](size_t dim, const std::vector<AxisRef>& axes) {
        return axes.empty()
                   ? dim_name(tensor, dim)
                   : fmt::format("{} over {}", dim_name(tensor, dim), paint_axes(paint, mesh, text(mesh, axes)));
    };
    out += margin + " " + along(column_dim, column_axes) + (flat ? "" : "; rows: " + along(0, row_axes)) + "\n";
    header.erase(header.find_last_not_of(' ') + 1);
    out += header + "\n" + rule;
    for (size_t r = 0; r < rows.size(); ++r) {
        out += "  " + paint(row_color, fmt::format("{:>{}}", row_labels[r], label_width)) + " ";
        for (size_t c = 0; c < columns.size(); ++c) out += "|" + centered(cells[r][c], widths[c]);
        out += "|\n" + rule;
    }
    return out;
}

// With as many columns as there is room for, but never fewer than the first, dots and the last.
std::string fitting_grid(const Mesh& mesh, const TensorReport& tensor, const Sharding& sharding, const Paint& paint) {
    i64 most = most_parts;
    const auto is_wide = [&] {
        std::istringstream lines(grid(mesh, tensor, sharding, {}, most));
        for (std::string line; std::getline(lines, line);)
            if (display_width(line) > paint.width) return true;
        return false;
    };
    while (paint.width > 0 && most > 3 && is_wide()) --most;
    return grid(mesh, tensor, sharding, paint, most);
}

// For a rank that has no picture: the parts of every sharded dim, and who holds them.
std::string listing(const Mesh& mesh, const TensorReport& tensor, const Sharding& sharding, const Paint& paint) {
    std::string out;
    for (size_t d = 0; d < sharding.dims.size(); ++d) {
        if (sharding.dims[d].axes.empty()) continue;
        i64 count = shard_count(sharding.dims[d]);
        out += fmt::format("  {} over {}: {} parts of {}\n", dim_name(tensor, d),
                           paint_axes(paint, mesh, text(mesh, sharding.dims[d].axes)), count, tensor.local_shape[d]);
        Table table({{""}, {""}});
        Sharding only = replicated_sharding(static_cast<int>(sharding.dims.size()));
        only.dims[d] = sharding.dims[d];
        std::vector<i64> part(sharding.dims.size(), 0);
        for (i64 index : shown_parts(count)) {
            part[d] = index;
            table.add({Cell(range_text(index, tensor, d), axis_color(sharding.dims[d].axes.front().axis)),
                       index < 0 ? "" : holders_text(mesh, only, part, "devices ")});
        }
        out += table.render(paint, "    ");
    }
    return out;
}

} // namespace

std::string device_grid(const Mesh& mesh, const TensorReport& tensor, const std::string& shown_name,
                        const Paint& paint) {
    Sharding sharding = without_unit_axes(tensor.sharding);
    std::vector<AxisRef> used;
    for (const DimSharding& dim : sharding.dims) used.insert(used.end(), dim.axes.begin(), dim.axes.end());
    i64 parts = total_size(used);
    i64 copies = mesh.device_count() / parts;
    std::vector<AxisRef> free;
    for (const AxisRef& axis : unused_axes(mesh, used))
        if (axis.size > 1) free.push_back(axis);
    std::string out = tensor_heading(paint, mesh, shown_name, tensor) + "\n";
    std::string held =
        fmt::format("  a device holds {}, {}; ", shape_text(tensor.local_shape), human_bytes(tensor.bytes_per_device));
    if (parts == 1)
        held += copies == 1 ? "all of it" : fmt::format("all of it, on each of {} devices", copies);
    else if (copies == 1)
        held += fmt::format("{} parts, one a device", parts);
    else
        held += fmt::format("{} parts, each on {}: copies over {}", parts, counted(copies, "device"), text(mesh, free));
    out += paint_axes(paint, mesh, hanging(held, paint.width, 4)) + "\n";
    if (!sharding.partial.empty())
        out += fmt::format("  not whole yet: the {} over {} is still to be taken\n", name(sharding.reduce),
                           text(mesh, sharding.partial));
    if (parts == 1) return out;
    if (tensor.shape.size() > 2) return out + listing(mesh, tensor, sharding, paint);
    return out + "\n" + fitting_grid(mesh, tensor, sharding, paint);
}

} // namespace shard
