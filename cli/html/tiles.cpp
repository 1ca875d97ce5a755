#include "cli/html/tiles.h"

#include "cli/html/words.h"
#include "plans/sharding/axis_lists.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

namespace {

constexpr double height = 14, gap = 8, letter = 6.1, least_width = 40, least_tile = 2.5;
constexpr i64 most_cuts = 32; // more would be one grey

std::string label_of(const TensorReport& tensor, size_t dim) {
    const bool is_named = dim < tensor.logical.size() && !tensor.logical[dim].empty();
    return (is_named ? tensor.logical[dim] + " " : "") + std::to_string(tensor.shape[dim]);
}

// One mesh axis of a dim: the first of `parts` tiles solid, lines between them while they can be told apart.
void draw_band(Markup& out, const AxisRef& axis, i64 parts, double x, double y, double width, double band) {
    const std::string color = axis_class(axis.axis);
    const double tile = width / static_cast<double>(parts);
    out.leaf("rect",
             {{"class", color + " tint"}, {"x", px(x)}, {"y", px(y)}, {"width", px(width)}, {"height", px(band)}});
    out.leaf("rect", {{"class", color},
                      {"x", px(x)},
                      {"y", px(y)},
                      {"width", px(std::max(tile, least_tile))},
                      {"height", px(band)}});
    if (parts > most_cuts) return;
    std::string cuts;
    for (i64 i = 1; i < parts; ++i)
        cuts += fmt::format("M{} {}v{}", px(x + tile * static_cast<double>(i)), px(y), px(band));
    out.leaf("path", {{"class", color + " cut"}, {"d", cuts}});
}

double draw_dim(Markup& out, const TensorReport& tensor, const DimSharding& dim, size_t d, double x) {
    const std::string label = label_of(tensor, d);
    const std::string by = dim.axes.empty() ? "" : fmt::format(" / {}", shard_count(dim));
    const double width = std::max(least_width, letter * static_cast<double>(label.size() + by.size()));
    const double band = height / static_cast<double>(std::max<size_t>(dim.axes.size(), 1));
    i64 parts = 1;
    for (size_t i = 0; i < dim.axes.size(); ++i) {
        parts *= dim.axes[i].size;
        draw_band(out, dim.axes[i], parts, x, 1 + band * static_cast<double>(i), width, band);
    }
    out.leaf("rect", {{"class", "frame"}, {"x", px(x)}, {"y", "1"}, {"width", px(width)}, {"height", px(height)}});
    out.open("text", {{"x", px(x)}, {"y", px(height + 11)}}).text(label);
    if (!by.empty()) out.leaf("tspan", {{"class", axis_class(dim.axes.back().axis)}}, by);
    out.close();
    return x + width + gap;
}

} // namespace

DrawnSize draw_tiles(Markup& out, const Mesh& mesh, const TensorReport& tensor) {
    const Sharding sharding = without_unit_axes(tensor.sharding);
    Markup drawing;
    double x = 1;
    for (size_t d = 0; d < tensor.shape.size(); ++d) x = draw_dim(drawing, tensor, sharding.dims[d], d, x);
    if (tensor.shape.empty()) drawing.leaf("text", {{"x", "1"}, {"y", px(height - 2)}}, "scalar"), x = least_width;
    const std::string width = px(x), tall = px(height + 15);
    out.open("svg", {{"class", "tiles"},
                     {"width", width},
                     {"height", tall},
                     {"role", "img"},
                     {"aria-label", text(mesh, sharding)}});
    out.append(drawing.take()).close();
    return {x, height + 15};
}

void draw_wrapping_tiles(Markup& out, const Mesh& mesh, const TensorReport& tensor) {
    if (tensor.shape.empty()) {
        draw_tiles(out, mesh, tensor);
        return;
    }
    const Sharding sharding = without_unit_axes(tensor.sharding);
    out.open("div", {{"class", "dims"}, {"role", "img"}, {"aria-label", text(mesh, sharding)}});
    for (size_t d = 0; d < tensor.shape.size(); ++d) {
        Markup drawing;
        const double width = draw_dim(drawing, tensor, sharding.dims[d], d, 1);
        out.open("svg", {{"class", "tiles"}, {"width", px(width)}, {"height", px(height + 15)}});
        out.append(drawing.take()).close();
    }
    out.close();
}

} // namespace shard
