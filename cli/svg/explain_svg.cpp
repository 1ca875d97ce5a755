#include "cli/svg/explain_svg.h"

#include "cli/explain/alike_explanations.h"
#include "cli/html/tiles.h"
#include "cli/report/nouns.h"
#include "cli/svg/svg_sheet.h"
#include "cli/terminal/wrap.h"
#include "plans/base/units.h"
#include "plans/plan/source_ref.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

constexpr double line_height = 16, indent = 14, arrow_length = 46;
constexpr size_t columns = 110; // of a text

class ExplanationDrawing {
public:
    ExplanationDrawing(SvgSheet& sheet, const Plan& plan) : sheet_(sheet), plan_(plan) {}

    void draw(const Explanation& why) {
        const TensorReport& tensor = *why.tensor;
        sheet_.skip(line_height);
        const double y = sheet_.bottom();
        const double width = sheet_.text(0, y, "name", called_together(why));
        sheet_.text(width + indent, y, "",
                    fmt::format("{} {}  {}", name(tensor.role), type_text(tensor.dtype, tensor.shape, tensor.logical),
                                sharding_text(plan_.mesh, tensor.sharding)));
        line("soft place", 0,
             fmt::format("a device holds {}, {}; {}", shape_text(tensor.local_shape),
                         human_bytes(tensor.bytes_per_device), text(tensor.source)));
        sheet_.skip(6);
        tiles(tensor, tensor.sharding, 0, sheet_.bottom());
        for (const DimReason& dim : why.dims) draw_reasons(dim);
        for (const CollectiveReport& collective : why.collectives)
            line("", 0,
                 fmt::format("{} over {} of {}: a device sends {}, {}; {}", collective.kind,
                             axes_text(plan_.mesh, collective.axes), collective.tensor,
                             human_bytes(collective.wire_bytes_per_device), human_seconds(collective.seconds),
                             collective.cause));
        for (const WaysThere& ways : why.ways) draw_ways(tensor, ways);
    }

private:
    void line(std::string_view kind, double x, const std::string& text) {
        for (const std::string& part : broken(text, columns)) sheet_.text(x, sheet_.bottom() + 12, kind, part);
    }

    DrawnSize tiles(TensorReport tensor, const Sharding& sharding, double x, double y) {
        tensor.sharding = sharding;
        Markup markup;
        const DrawnSize size = draw_tiles(markup, plan_.mesh, tensor);
        sheet_.place(x, y, markup.take(), size);
        return size;
    }

    void draw_reasons(const DimReason& dim) {
        if (dim.axes.empty()) line("soft", 0, fmt::format("{}: {}", dim.name, dim.whole));
        for (const AxisReason& reason : dim.axes) {
            std::vector<std::string> steps;
            for (const Because& because : reason.chain)
                steps.push_back(because.source.line > 0 ? fmt::format("{} ({})", because.words, text(because.source))
                                                        : because.words);
            line("", 0,
                 fmt::format("{} over {}: {}", dim.name, text(plan_.mesh, reason.axis), fmt::join(steps, ", then ")));
        }
    }

    // Of what a loop over layers moves a layer at a time, the tiles are those of a layer.
    void draw_ways(TensorReport tensor, const WaysThere& there) {
        const size_t rank = there.from.dims.size();
        if (rank > tensor.shape.size() || there.to.dims.size() != rank) return;
        const std::ptrdiff_t layers = static_cast<std::ptrdiff_t>(tensor.shape.size() - rank);
        tensor.shape.erase(tensor.shape.begin(), tensor.shape.begin() + layers);
        if (layers > 0) {
            tensor.logical.erase(tensor.logical.begin(),
                                 tensor.logical.begin() + std::min(layers, std::ssize(tensor.logical)));
            line("soft", 0, "of one layer:");
        }
        sheet_.skip(10);
        const double y = sheet_.bottom();
        const DrawnSize size = tiles(tensor, there.from, indent, y);
        sheet_.arrow(indent + size.width + 4, y + 9, arrow_length);
        tiles(tensor, there.to, indent + size.width + arrow_length + 12, y);
        for (size_t i = 0; i < there.ways.size(); ++i)
            line(i == 0 ? "" : "soft", indent,
                 fmt::format("{}: {}; {} sent all together, {}", i == 0 ? "chosen" : "next best",
                             fmt::join(step_words(plan_.mesh, there.ways[i]), ", then "),
                             human_bytes(there.ways[i].wire_bytes_total), human_seconds(there.ways[i].seconds)));
    }

    SvgSheet& sheet_;
    const Plan& plan_;
};

} // namespace

std::string explain_svg(const Plan& plan, const std::vector<Explanation>& explanations) {
    SvgSheet sheet(plan.mesh);
    sheet.text(0, 12, "title", plan.model);
    sheet.text(0, 32, "soft", fmt::format("{}, on {}", plan.mode, mesh_text(plan.mesh)));
    for (const Explanation& explanation : explanations) {
        sheet.skip(10);
        ExplanationDrawing(sheet, plan).draw(explanation);
    }
    if (explanations.empty()) sheet.text(0, 56, "", "There is no collective to explain.");
    return sheet.take(fmt::format("{}: why arrays are split so", plan.model));
}

} // namespace shard
