// A step over time: what the device computes, what its links carry meanwhile, and where it waits.
#include "cli/html/panel.h"

#include "cli/html/words.h"
#include "cli/report/nouns.h"
#include "cli/summary/alike.h"
#include "plans/base/units.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

namespace {

constexpr double left = 110, width = 840, lane_height = 20, lane_gap = 5, letter = 5.6;
constexpr double least_box = 1.5; // of what is narrower, neighbours are one box
constexpr size_t most_loops = 8;

// What a lane shows between two points of time.
struct Box {
    double begin = 0, end = 0;
    std::string color, title, label;
};
struct Lane {
    std::string name;
    std::vector<Box> boxes;
};

// The steps of one list: of the plan, or of a loop's body.
struct Chart {
    std::string title;
    double begin = 0, end = 0;
    std::vector<Lane> lanes;
};

class Charts {
public:
    explicit Charts(const PageData& data) : data_(data), plan_(data.plan), spans_(data.course.time.spans) {}

    std::vector<Chart> run() {
        charts_.emplace_back();
        charts_[0].title = fmt::format("a step, {}", human_seconds(plan_.report.time.step_seconds));
        fill(0, plan_.steps);
        return std::move(charts_);
    }

private:
    Lane& lane(size_t chart, const std::string& name) {
        std::vector<Lane>& lanes = charts_[chart].lanes;
        for (Lane& known : lanes)
            if (known.name == name) return known;
        return lanes.emplace_back(Lane{name, {}});
    }

    void add(size_t chart, const std::string& to, const StepSpan& span, const std::string& color, std::string title,
             std::string label = {}) {
        charts_[chart].end = std::max(charts_[chart].end, span.end);
        if (span.end > span.begin)
            lane(chart, to).boxes.push_back({span.begin, span.end, color, std::move(title), std::move(label)});
    }

    void fill(size_t chart, const std::vector<Step>& steps) {
        charts_[chart].begin = charts_[chart].end = spans_.at(at_).begin;
        lane(chart, "computes");
        for (const Step& step : steps) {
            const StepSpan& span = spans_.at(at_++);
            if (const Compute* compute = std::get_if<Compute>(&step.variant_ref())) {
                const std::string& name = plan_.buffers[compute->output].name;
                add(chart, "computes", span, "computes", fmt::format("{}: {}", compute->op, name), name);
            } else if (std::get_if<Start>(&step.variant_ref()) != nullptr) {
                const CollectiveReport& c = plan_.report.collectives.at(collective_++); // in the order of the steps
                add(chart, c.links.empty() ? "link" : c.links.back().link, span,
                    c.axes.empty() ? "computes" : axis_class(c.axes.back().axis),
                    fmt::format("{} over {}: {}", c.kind, axes_text(plan_.mesh, c.axes), c.tensor), c.tensor);
            } else if (std::get_if<Wait>(&step.variant_ref()) != nullptr) {
                add(chart, "computes", span, "waits", "waits");
            } else if (const Loop* loop = std::get_if<Loop>(&step.variant_ref())) {
                add_loop(chart, *loop, span);
            }
        }
    }

    void add_loop(size_t chart, const Loop& loop, const StepSpan& span) {
        const std::string what = fmt::format("{}, {} x", name_of(loop), grouped(loop.trips));
        add(chart, "computes", span, "loop", what, what);
        const size_t body = charts_.size();
        charts_.emplace_back();
        fill(body, loop.body);
        Chart& trip = charts_[body];
        trip.title = fmt::format("a trip of {}: {}", what, human_seconds(trip.end - trip.begin));
        for (const Lane& inner : trip.lanes) // what its links carry, all trips together
            if (inner.name != "computes") add(chart, inner.name, span, "loop", what);
    }

    // The module whose layers it runs.
    std::string name_of(const Loop& loop) const {
        for (const Step& step : loop.body)
            if (const Compute* compute = std::get_if<Compute>(&step.variant_ref())) {
                const std::string& name = plan_.buffers[compute->output].name;
                return "loop of " + name.substr(0, name.find('.'));
            }
        return "loop";
    }

    const PageData& data_;
    const Plan& plan_;
    const std::vector<StepSpan>& spans_;
    std::vector<Chart> charts_;
    size_t at_ = 0, collective_ = 0;
};

void draw_lane(Markup& out, const Chart& chart, const Lane& lane, double y) {
    const double scale = chart.end > chart.begin ? width / (chart.end - chart.begin) : 0;
    out.leaf("text", {{"class", "end"}, {"x", px(left - 6)}, {"y", px(y + 14)}}, lane.name);
    out.leaf("rect",
             {{"class", "lane"}, {"x", px(left)}, {"y", px(y)}, {"width", px(width)}, {"height", px(lane_height)}});
    for (size_t i = 0; i < lane.boxes.size();) {
        const Box& first = lane.boxes[i];
        const double x = left + (first.begin - chart.begin) * scale;
        double end = first.end;
        size_t next = i + 1;
        // Narrow neighbours of a colour are one box.
        while (next < lane.boxes.size() && (first.end - first.begin) * scale < least_box &&
               (lane.boxes[next].end - lane.boxes[next].begin) * scale < least_box &&
               (lane.boxes[next].begin - end) * scale < least_box / 2 && lane.boxes[next].color == first.color)
            end = lane.boxes[next++].end;
        const double wide = std::max((end - first.begin) * scale, 0.2);
        const std::string title = next == i + 1
                                      ? fmt::format("{}, {}", first.title, human_seconds(end - first.begin))
                                      : fmt::format("{} short ones, {}", next - i, human_seconds(end - first.begin));
        out.open("rect", {{"class", first.color},
                          {"x", px(x)},
                          {"y", px(y)},
                          {"width", fmt::format("{:.2f}", wide)},
                          {"height", px(lane_height)}});
        out.leaf("title", {}, title).close();
        if (next == i + 1 && wide > letter * static_cast<double>(first.label.size()) + 4 && !first.label.empty())
            out.leaf("text", {{"class", "on-" + first.color}, {"x", px(x + 3)}, {"y", px(y + 14)}}, first.label);
        i = next;
    }
    out.line();
}

void draw_chart(Markup& out, const Chart& chart) {
    const double height = static_cast<double>(chart.lanes.size()) * (lane_height + lane_gap) + 16;
    out.leaf("h3", {}, chart.title).open("div", {{"class", "scroll"}, {"tabindex", "0"}});
    out.open("svg", {{"class", "wide"},
                     {"viewBox", fmt::format("0 0 {} {}", left + width + 30, height)},
                     {"role", "img"},
                     {"aria-label", chart.title}});
    double y = 0;
    for (const Lane& lane : chart.lanes) {
        draw_lane(out, chart, lane, y);
        y += lane_height + lane_gap;
    }
    for (int quarter = 0; quarter <= 4; ++quarter) {
        const std::string_view anchor = quarter == 0 ? "" : "middle";
        out.leaf("text", {{"class", anchor}, {"x", px(left + width * quarter / 4)}, {"y", px(y + 9)}},
                 human_seconds((chart.end - chart.begin) * quarter / 4));
    }
    out.close().close().line();
}

void draw(Markup& out, const PageData& data) {
    std::vector<Chart> charts = Charts(data).run();
    if (charts.size() > most_loops + 1) charts.resize(most_loops + 1);
    out.open("p", {{"class", "legend"}});
    out.open("span").leaf("i", {{"class", "computes"}}).text("computes").close().text(" ");
    out.open("span").leaf("i", {{"class", "waits"}}).text("waits for a collective").close().text(" ");
    for (size_t axis = 0; axis < data.plan.mesh.axes.size(); ++axis) {
        const std::string color = axis_class(static_cast<int>(axis));
        out.open("span").leaf("i", {{"class", color}}).text("sends over " + data.plan.mesh.axes[axis].name).close();
        out.text(" ");
    }
    out.close().line();
    for (const Chart& chart : charts) draw_chart(out, chart);
}

} // namespace

const PanelDef& panel_timeline() {
    static const PanelDef def = {.id = "time",
                                 .title = "Time",
                                 .about = "A step as the cost model runs it, to scale; below, one trip of each loop.",
                                 .order = 2,
                                 .draw = draw};
    return def;
}

} // namespace shard
