#include "cli/html/mesh_drawing.h"

#include "cli/html/words.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

namespace {

constexpr double cell_width = 30, cell_height = 16, label_height = 16, label_width = 12, block_gap = 8;
constexpr i64 most_shown = 8; // devices along an axis; of more the first ones, and the last

// Coordinates of an axis that are drawn; -1 stands for those left out.
std::vector<i64> shown_coordinates(i64 size) {
    std::vector<i64> out;
    for (i64 i = 0; i < std::min(size, most_shown); ++i) out.push_back(i);
    if (size > most_shown) out[most_shown - 2] = -1, out[most_shown - 1] = size - 1;
    return out;
}

class MeshDrawing {
public:
    explicit MeshDrawing(const Mesh& mesh) : mesh_(mesh) {
        for (size_t i = 0; i < mesh.axes.size(); ++i)
            if (mesh.axes[i].size > 1) axes_.push_back(static_cast<int>(i));
        extents_.resize(axes_.size() + 1, {cell_width, cell_height});
        for (size_t level = axes_.size(); level-- > 0;) {
            const double n = static_cast<double>(shown_coordinates(mesh.axes[axes_[level]].size).size());
            DrawnSize& extent = extents_[level] = extents_[level + 1];
            double& length = goes_right(level) ? extent.width : extent.height;
            length = n * length + (n - 1) * gap(level);
            (goes_right(level) ? top_ : left_) += goes_right(level) ? label_height : label_width;
        }
    }

    DrawnSize draw(Markup& out) {
        const DrawnSize size = {left_ + extents_[0].width + 2, top_ + extents_[0].height + 2};
        const std::string width = px(size.width), height = px(size.height);
        out.open("svg",
                 {{"class", "mesh"}, {"width", width}, {"height", height}, {"role", "img"}, {"aria-label", "devices"}});
        double x = 1, y = 1; // the outermost axes stand outside
        for (size_t level = 0; level < axes_.size(); ++level) draw_label(out, level, x, y);
        std::vector<i64> at(mesh_.axes.size(), 0);
        draw_level(out, 0, at, left_ + 1, top_ + 1);
        out.close();
        return size;
    }

private:
    bool goes_right(size_t level) const { return (axes_.size() - level) % 2 == 1; }
    double gap(size_t level) const { return axes_.size() - level > 2 ? block_gap : 2; }

    // Beside the first block of its kind; x and y go on to where the next one stands.
    void draw_label(Markup& out, size_t level, double& x, double& y) const {
        const MeshAxis& axis = mesh_.axes[axes_[level]];
        const std::string label = fmt::format("{} {}", axis.name, axis.size), color = axis_class(axes_[level]);
        const DrawnSize& extent = extents_[level];
        std::string line;
        if (goes_right(level)) {
            out.leaf("text", {{"class", color}, {"x", px(left_ + 1)}, {"y", px(y + 9)}}, label);
            line = fmt::format("M{} {}h{}", px(left_ + 1), px(y + 13), px(extent.width));
            y += label_height;
        } else {
            const double end = top_ + 1 + extent.height;
            const std::string turned = fmt::format("translate({} {}) rotate(-90)", px(x + 7), px(end));
            out.leaf("text", {{"class", color}, {"transform", turned}}, label);
            line = fmt::format("M{} {}v{}", px(x + 10), px(top_ + 1), px(extent.height));
            x += label_width;
        }
        out.leaf("path", {{"class", color + " side"}, {"d", line}});
    }

    void draw_level(Markup& out, size_t level, std::vector<i64>& at, double x, double y) const {
        if (level == axes_.size()) return draw_device(out, at, x, y);
        const int axis = axes_[level];
        const DrawnSize& part = extents_[level + 1];
        for (i64 coordinate : shown_coordinates(mesh_.axes[axis].size)) {
            at[axis] = coordinate;
            if (coordinate < 0)
                out.leaf("text",
                         {{"class", "middle"}, {"x", px(x + part.width / 2)}, {"y", px(y + part.height / 2 + 3)}}, "…");
            else
                draw_level(out, level + 1, at, x, y);
            (goes_right(level) ? x : y) += (goes_right(level) ? part.width : part.height) + gap(level);
        }
        at[axis] = 0;
    }

    void draw_device(Markup& out, const std::vector<i64>& at, double x, double y) const {
        out.leaf(
            "rect",
            {{"class", "frame"}, {"x", px(x)}, {"y", px(y)}, {"width", px(cell_width)}, {"height", px(cell_height)}});
        out.leaf("text", {{"class", "middle"}, {"x", px(x + cell_width / 2)}, {"y", px(y + cell_height / 2 + 3)}},
                 std::to_string(mesh_.device_id(position_of(mesh_, at))));
    }

    const Mesh& mesh_;
    std::vector<int> axes_;          // that are longer than 1
    std::vector<DrawnSize> extents_; // by level, the whole mesh first
    double left_ = 0, top_ = 0;      // taken by labels
};

} // namespace

DrawnSize draw_mesh(Markup& out, const Mesh& mesh) { return MeshDrawing(mesh).draw(out); }

} // namespace shard
