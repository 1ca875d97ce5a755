// A drawing that is a file of its own: SVG with its style, light or dark as whoever looks at it has chosen. Things are put
// below each other; the sheet grows with them.
#pragma once

#include "cli/html/markup.h"
#include "plans/sharding/mesh.h"

namespace shard {

class SvgSheet {
public:
    explicit SvgSheet(const Mesh& mesh) : mesh_(&mesh) {}

    // A text whose mesh axes have their colours; its width as far as it can be told.
    double text(double x, double y, std::string_view kind, std::string_view text);
    // What has its own origin, as draw_tiles makes it.
    void place(double x, double y, const std::string& markup, DrawnSize size);
    void arrow(double x, double y, double length);

    double bottom() const { return bottom_; }
    void skip(double height) { bottom_ += height; }

    std::string take(std::string_view title); // the file

private:
    void reach(double x, double y);

    const Mesh* mesh_;
    Markup out_;
    double right_ = 0, bottom_ = 0;
};

double text_width(std::string_view text); // of one in the usual size

} // namespace shard
