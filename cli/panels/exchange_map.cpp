// The model as it is written, with an arc for what moves between devices on the way from one line to another. Layers of
// a repeated module, and what reverse mode makes of an op, stand on the line that says it: so a graph of any size is as
// long as its file.
#include "cli/html/panel.h"

#include "cli/html/words.h"
#include "cli/report/nouns.h"
#include "plans/base/saturating.h"
#include "plans/base/units.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

namespace shard {

namespace {

constexpr double row_height = 15, top = 22, text_width = 560, band_width = 130, letter = 6.1;
constexpr size_t most_letters = 82;

struct Arc {
    int from = 0, to = 0; // lines
    Phase phase = Phase::forward;
    std::string kind;
    std::vector<AxisRef> axes;
    std::vector<std::string> tensors;
    i64 count = 0, bytes = 0;
    double seconds = 0;
};

class Exchanges {
public:
    explicit Exchanges(const PageData& data)
        : data_(data), local_(data.compilation.local->graph), users_(users_of(local_)), file_(data.request.model_file) {
    }

    std::vector<Arc> run() {
        std::vector<Arc> arcs;
        size_t index = 0;
        for_each_step(data_.plan, [&](const Step& step, i64) { // the order of the report
            const Start* start = std::get_if<Start>(&step.variant_ref());
            if (start == nullptr) return;
            const CollectiveReport& c = data_.plan.report.collectives.at(index);
            const When when = index < data_.when.size() ? data_.when[index] : When();
            ++index;
            const Node& node = local_.node(data_.compilation.schedule.starts.at(start->token));
            const int home = line_of_tensor(c.tensor);
            int from = line_before(node), to = line_after(node);
            if (from == 0) from = home;
            if (to == 0) to = home;
            if (from == 0) from = to;
            if (to == 0) to = from;
            if (from == 0) return;
            Arc& arc = arc_of(arcs, from, to, when.phase, c);
            if (std::find(arc.tensors.begin(), arc.tensors.end(), c.tensor) == arc.tensors.end())
                arc.tensors.push_back(c.tensor);
            arc.count = add_saturating(arc.count, c.count);
            arc.bytes = add_saturating(arc.bytes, c.wire_bytes_per_device);
            arc.seconds += c.seconds;
        });
        return arcs;
    }

private:
    static Arc& arc_of(std::vector<Arc>& arcs, int from, int to, Phase phase, const CollectiveReport& c) {
        for (Arc& arc : arcs)
            if (arc.from == from && arc.to == to && arc.phase == phase && arc.kind == c.kind && arc.axes == c.axes)
                return arc;
        return arcs.emplace_back(Arc{from, to, phase, c.kind, c.axes, {}, 0, 0, 0});
    }

    // 0: none, or not in the model's file.
    int line(const Span& span) const { return span.known() && span.file == file_ ? span.line : 0; }

    int line_of_tensor(const std::string& name) const {
        for (const TensorReport& tensor : data_.plan.report.tensors)
            if (tensor.name == name) return tensor.source.file == data_.sources.name(file_) ? tensor.source.line : 0;
        return 0;
    }

    // The op, or the declaration, that what is moved comes from.
    int line_before(const Node& node) const {
        ValueId id = node.inputs.at(0);
        while (local_.value(id).producer >= 0) {
            const Node& producer = local_.node(local_.value(id).producer);
            if (producer.reshard() == nullptr) return line(producer.span);
            id = producer.inputs.at(0);
        }
        return line(local_.value(id).span);
    }

    // The first op that reads it.
    int line_after(const Node& node) const {
        const Node* at = &node;
        while (at->reshard() != nullptr) {
            const std::vector<NodeId>& readers = users_[at->outputs.at(0)];
            if (readers.empty()) return 0;
            at = &local_.node(readers.front());
        }
        return line(at->span);
    }

    const PageData& data_;
    const Graph& local_;
    std::vector<std::vector<NodeId>> users_;
    int file_;
};

class Drawing {
public:
    Drawing(Markup& out, const PageData& data, const std::vector<Arc>& arcs) : out_(out), data_(data), arcs_(arcs) {
        for (const Arc& arc : arcs) {
            most_ = std::max(most_, arc.bytes);
            bands_.emplace(arc.phase, 0);
        }
        double x = text_width;
        for (auto& [phase, at] : bands_) at = x, x += band_width;
        width_ = x + 10;
        choose_rows();
    }

    void draw() {
        const double height = top + row_height * static_cast<double>(rows_.size()) + 4;
        out_.open("div", {{"class", "scroll"}, {"tabindex", "0"}});
        out_.open("svg", {{"class", "wide"},
                          {"viewBox", fmt::format("0 0 {} {}", px(width_), px(height))},
                          {"role", "img"},
                          {"aria-label", "what moves between the lines of the model"}});
        for (const auto& [phase, x] : bands_)
            out_.leaf("text", {{"x", px(x)}, {"y", "11"}, {"class", "strong"}}, name(phase));
        for (const auto& [line, row] : rows_) draw_line(line, y_of(row));
        out_.line();
        for (const Arc& arc : arcs_) draw_arc(arc);
        out_.close().close().line();
    }

private:
    double y_of(int row) const { return top + row_height * (row + 0.5); }

    // Lines on which something is declared or computed, or moves, and those that open a section around them.
    void choose_rows() {
        const int file = data_.request.model_file;
        std::set<int> lines;
        for (const Arc& arc : arcs_) lines.insert(arc.from), lines.insert(arc.to);
        for (const Node& node : data_.compilation.graph->nodes)
            if (node.span.known() && node.span.file == file) lines.insert(node.span.line);
        for (const Value& value : data_.compilation.graph->values)
            if (value.span.known() && value.span.file == file) lines.insert(value.span.line);
        const int last = lines.empty() ? 0 : *lines.rbegin();
        for (int line = 1; line < last; ++line)
            if (data_.sources.line(file, line).ends_with(':')) lines.insert(line);
        for (int line : lines) rows_.emplace(line, static_cast<int>(rows_.size()));
    }

    void draw_line(int line, double y) {
        std::string_view text = data_.sources.line(data_.request.model_file, line);
        const size_t indent = std::min(text.find_first_not_of(' '), text.size());
        std::string shown(text.substr(indent));
        const size_t room = most_letters - std::min(indent, most_letters);
        if (shown.size() > room) {
            size_t end = room;
            while (end > 0 && (static_cast<unsigned char>(shown[end]) & 0xC0) == 0x80) --end; // not inside a character
            shown = shown.substr(0, end) + "…";
        }
        const std::string x = px(30 + letter * static_cast<double>(indent));
        out_.leaf("text", {{"class", "end soft"}, {"x", "22"}, {"y", px(y + 3.5)}}, std::to_string(line));
        out_.open("a", {{"href", "#" + line_id(0, line)}});
        out_.leaf("text", {{"class", "mono"}, {"x", x}, {"y", px(y + 3.5)}}, shown).close();
    }

    void draw_arc(const Arc& arc) {
        const double x = bands_.at(arc.phase), from = y_of(rows_.at(arc.from)), to = y_of(rows_.at(arc.to));
        const double reach = static_cast<double>(rows_.size()) * row_height;
        const double out = 18 + (band_width - 40) * std::sqrt(std::abs(to - from) / std::max(reach, 1.0));
        const double share = most_ > 0 ? static_cast<double>(arc.bytes) / static_cast<double>(most_) : 0;
        const std::string color = arc.axes.empty() ? "" : axis_class(arc.axes.back().axis);
        // Where both ends are one line the arc is a small loop.
        const double spread = arc.from == arc.to ? 5 : 0;
        std::vector<std::string> tensors = arc.tensors;
        if (tensors.size() > 6) tensors.resize(6), tensors.emplace_back("...");
        const std::string path = fmt::format("M{0} {1}C{2} {3} {2} {4} {0} {5}", px(x), px(from), px(x + out * 4 / 3),
                                             px(from - spread), px(to + spread), px(to));
        out_.open("path", {{"class", color + " arc"}, {"d", path}, {"stroke-width", px(0.8 + 6 * std::sqrt(share))}});
        out_.leaf("title", {},
                  fmt::format("{} over {}, {} x: a device sends {}, {}; {}", arc.kind,
                              axes_text(data_.plan.mesh, arc.axes), grouped(arc.count), human_bytes(arc.bytes),
                              human_seconds(arc.seconds), fmt::format("{}", fmt::join(tensors, ", "))));
        out_.close();
        out_.leaf("circle", {{"class", color + " end-of"}, {"cx", px(x)}, {"cy", px(to)}, {"r", "2.5"}});
    }

    Markup& out_;
    const PageData& data_;
    const std::vector<Arc>& arcs_;
    std::map<Phase, double> bands_; // of the phases in which something moves: where each stands
    std::map<int, int> rows_;       // by line
    i64 most_ = 0;
    double width_ = 0;
};

void draw(Markup& out, const PageData& data) {
    const std::vector<Arc> arcs = Exchanges(data).run();
    if (arcs.empty()) {
        out.leaf("p", {}, "Nothing moves between devices.").line();
        return;
    }
    Drawing(out, data, arcs).draw();
}

} // namespace

const PanelDef& panel_exchange_map() {
    static const PanelDef def = {
        .id = "graph",
        .title = "Graph",
        .about =
            "An arc is what moves between devices, from the line that makes it to the line (the dot) that reads it: "
            "as thick as its bytes, in the colour of the mesh axis. A line leads to its source.",
        .order = 4,
        .draw = draw};
    return def;
}

} // namespace shard
