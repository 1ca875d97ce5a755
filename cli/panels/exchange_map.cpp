// The model as it is written, with an arc for what moves between devices on the way from one line to another. Layers of
// a repeated module, and what reverse mode makes of an op, stand on the line that says it: so a graph of any size is as
// long as its file.
#include "cli/html/panel.h"

#include "cli/html/words.h"
#include "cli/report/nouns.h"
#include "planner/graph/users.h"
#include "planner/read/include.h"
#include "planner/read/places.h"
#include "plans/base/saturating.h"
#include "plans/base/units.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>
#include <span>

namespace shard {

namespace {

constexpr double row_height = 15, top = 22, text_width = 560, band_width = 130, letter = 6.1;
constexpr size_t most_letters = 82;

// A line of the model, or of a file of modules that it includes, in the order in which they are drawn.
struct Place {
    int file = -1; // in model_files
    int line = 0;
    bool known() const { return line > 0; }
    auto operator<=>(const Place&) const = default;
};

std::vector<int> model_files(const PageData& data) {
    std::vector<int> files = included_files(data.sources, data.request.model_file);
    files.insert(files.begin(), data.request.model_file);
    const std::vector<int> places = files_of_places(data.sources, data.request.model_file);
    files.insert(files.end(), places.begin(), places.end());
    return files;
}

Place place_in(std::span<const int> files, const Span& span) {
    const std::span<const int>::iterator file = std::find(files.begin(), files.end(), span.file);
    return span.known() && file != files.end() ? Place{static_cast<int>(file - files.begin()), span.line} : Place{};
}

struct Arc {
    Place from, to;
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
        : data_(data), local_(data.compilation.local->graph), users_(local_), files_(model_files(data)) {}

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
            const Place home = place_of_tensor(c.tensor);
            Place from = place_before(node), to = place_after(node);
            if (!from.known()) from = home;
            if (!to.known()) to = home;
            if (!from.known()) from = to;
            if (!to.known()) to = from;
            if (!from.known()) return;
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
    static Arc& arc_of(std::vector<Arc>& arcs, Place from, Place to, Phase phase, const CollectiveReport& c) {
        for (Arc& arc : arcs)
            if (arc.from == from && arc.to == to && arc.phase == phase && arc.kind == c.kind && arc.axes == c.axes)
                return arc;
        return arcs.emplace_back(Arc{from, to, phase, c.kind, c.axes, {}, 0, 0, 0});
    }

    Place place_of_tensor(const std::string& name) const {
        for (const TensorReport& tensor : data_.plan.report.tensors) {
            if (tensor.name != name) continue;
            for (size_t n = 0; n < files_.size(); ++n)
                if (tensor.source.file == data_.sources.name(files_[n]))
                    return {static_cast<int>(n), tensor.source.line};
            return {};
        }
        return {};
    }

    // The op, or the declaration, that what is moved comes from.
    Place place_before(const Node& node) const {
        ValueId id = node.inputs.at(0);
        while (local_.value(id).producer >= 0) {
            const Node& producer = local_.node(local_.value(id).producer);
            if (producer.reshard() == nullptr) return place_in(files_, producer.span);
            id = producer.inputs.at(0);
        }
        return place_in(files_, local_.value(id).span);
    }

    // The first op that reads it.
    Place place_after(const Node& node) const {
        const Node* at = &node;
        while (at->reshard() != nullptr) {
            const std::span<const NodeId> readers = users_[at->outputs.at(0)];
            if (readers.empty()) return {};
            at = &local_.node(readers.front());
        }
        return place_in(files_, at->span);
    }

    const PageData& data_;
    const Graph& local_;
    Users users_;
    std::vector<int> files_;
};

class Drawing {
public:
    Drawing(Markup& out, const PageData& data, const std::vector<Arc>& arcs)
        : out_(out), data_(data), arcs_(arcs), files_(model_files(data)) {
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
        for (const auto& [place, row] : rows_) draw_line(place, y_of(row));
        out_.line();
        for (const Arc& arc : arcs_) draw_arc(arc);
        out_.close().close().line();
    }

private:
    double y_of(int row) const { return top + row_height * (row + 0.5); }

    // Lines on which something is declared or computed, or moves, and those that open a section around them.
    void choose_rows() {
        std::set<Place> places;
        for (const Arc& arc : arcs_) places.insert(arc.from), places.insert(arc.to);
        for (const Node& node : data_.compilation.graph->nodes) places.insert(place_in(files_, node.span));
        for (const Value& value : data_.compilation.graph->values) places.insert(place_in(files_, value.span));
        places.erase(Place{});
        for (int file = 0; file < static_cast<int>(files_.size()); ++file) {
            const std::set<Place>::iterator end = places.lower_bound({file + 1, 0});
            const int last = end == places.begin() || std::prev(end)->file < file ? 0 : std::prev(end)->line;
            for (int line = 1; line < last && !data_.sources.text(files_[file]).empty(); ++line)
                if (data_.sources.line(files_[file], line).ends_with(':')) places.insert({file, line});
            if (last > 0 && file > 0) places.insert({file, 0}); // its name
        }
        for (const Place& place : places) rows_.emplace(place, static_cast<int>(rows_.size()));
    }

    // Among the sources of the plan, which the page shows.
    size_t source_index(int file) const {
        const std::vector<SourceText>& sources = data_.plan.sources;
        for (size_t n = 0; n < sources.size(); ++n)
            if (sources[n].name == data_.sources.name(files_[file])) return n;
        return 0;
    }

    void draw_line(const Place& place, double y) {
        if (place.line == 0) {
            out_.leaf("text", {{"class", "strong"}, {"x", "30"}, {"y", px(y + 3.5)}},
                      data_.sources.name(files_[place.file]));
            return;
        }
        std::string_view text = data_.sources.line(files_[place.file], place.line);
        const size_t indent = std::min(text.find_first_not_of(' '), text.size());
        std::string shown(text.substr(indent));
        const size_t room = most_letters - std::min(indent, most_letters);
        if (shown.size() > room) {
            size_t end = room;
            while (end > 0 && (static_cast<unsigned char>(shown[end]) & 0xC0) == 0x80) --end; // not inside a character
            shown = shown.substr(0, end) + "…";
        }
        const std::string x = px(30 + letter * static_cast<double>(indent));
        out_.leaf("text", {{"class", "end soft"}, {"x", "22"}, {"y", px(y + 3.5)}}, std::to_string(place.line));
        if (text.empty()) return; // a line of a program that is not read
        out_.open("a", {{"href", "#" + line_id(source_index(place.file), place.line)}});
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
    std::vector<int> files_;
    std::map<Place, int> rows_;
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
