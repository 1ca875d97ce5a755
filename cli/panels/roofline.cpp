// What bounds the kernels: the arithmetic of the device, its memory, or the time that it takes to begin.
#include "cli/html/panel.h"

#include "cli/html/words.h"
#include "plans/base/units.h"
#include "plans/kernel/kernel_cost.h"
#include "plans/plan/source_ref.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace shard {

namespace {

constexpr double left = 90, top = 14, width = 860, height = 240;
constexpr size_t most_rows = 12, most_points = 200;

// Kernels of one op that do the same.
struct Point {
    std::string op, name;
    SourceRef source;
    i64 flops = 0, bytes = 0, count = 0;
    double seconds = 0; // of one
    double total() const { return seconds * static_cast<double>(count); }
    double intensity() const { return static_cast<double>(flops) / static_cast<double>(std::max<i64>(bytes, 1)); }
    double rate() const { return static_cast<double>(flops) / seconds; }
};

class Kernels {
public:
    explicit Kernels(const PageData& data) : data_(data) {}

    // By dtype, FLOP/s that products on it reach. After run().
    const std::map<DType, double>& roofs() const { return roofs_; }

    std::vector<Point> run() {
        walk(data_.plan.steps, 1);
        std::vector<Point> points;
        for (const std::string& key : order_) points.push_back(points_[key]);
        std::stable_sort(points.begin(), points.end(),
                         [](const Point& a, const Point& b) { return a.total() > b.total(); });
        return points;
    }

private:
    void walk(const std::vector<Step>& steps, i64 count) {
        for (const Step& step : steps) {
            const StepSpan& span = data_.course.time.spans.at(at_++);
            if (const Loop* loop = std::get_if<Loop>(&step.variant_ref())) walk(loop->body, count * loop->trips);
            const Compute* compute = std::get_if<Compute>(&step.variant_ref());
            if (compute == nullptr || span.end <= span.begin) continue;
            const std::string key = fmt::format("{} {} {}:{} {}", compute->op, span.flops, compute->source.file,
                                                compute->source.line, span.bytes);
            if (!points_.contains(key)) order_.push_back(key);
            Point& point = points_[key];
            if (point.count == 0)
                point = {compute->op,          data_.plan.buffers[compute->output].name,
                         compute->source,      span.flops,
                         span.bytes,           0,
                         span.end - span.begin};
            point.count += count;
            note_roof(*compute);
        }
    }

    void note_roof(const Compute& compute) {
        if (!is_product(*compute.kernel)) return;
        const DType dtype = data_.plan.buffers[static_cast<size_t>(compute.inputs[0])].dtype;
        roofs_[dtype] = flop_rate(*data_.compilation.hardware, *compute.kernel, dtype);
    }

    const PageData& data_;
    std::map<DType, double> roofs_;
    std::map<std::string, Point> points_;
    std::vector<std::string> order_;
    size_t at_ = 0;
};

// Both axes are logarithmic.
struct Scale {
    double from = 0, to = 1; // decades
    double at(double value, double length) const { return (std::log10(value) - from) / (to - from) * length; }
};
Scale scale_of(double least, double most) {
    Scale scale{std::floor(std::log10(least)), std::ceil(std::log10(most))};
    if (scale.to <= scale.from) scale.to = scale.from + 1;
    return scale;
}

void draw_chart(Markup& out, const Hardware& hardware, const std::vector<Point>& all,
                const std::map<DType, double>& roofs) {
    std::vector<Point> points;
    for (const Point& point : all)
        if (point.flops > 0 && points.size() < most_points) points.push_back(point);
    double peak = 0;
    for (const auto& [dtype, rate] : roofs) peak = std::max(peak, rate);
    for (const Point& point : points) peak = std::max(peak, point.rate());
    const double bandwidth = hardware.memory_bandwidth * hardware.memory_efficiency;
    if (points.empty() || peak <= 0 || bandwidth <= 0) return;
    double least_x = peak / bandwidth, most_x = least_x, least_y = peak;
    for (const Point& point : points) {
        least_x = std::min(least_x, point.intensity());
        most_x = std::max(most_x, point.intensity());
        least_y = std::min(least_y, point.rate());
    }
    const Scale xs = scale_of(least_x, most_x * 1.5), ys = scale_of(least_y, peak * 1.1);
    const auto x_of = [&](double value) { return left + xs.at(value, width); };
    const auto y_of = [&](double value) { return top + height - ys.at(value, height); };
    out.open("div", {{"class", "scroll"}, {"tabindex", "0"}});
    out.open("svg", {{"class", "wide"},
                     {"viewBox", fmt::format("0 0 {} {}", left + width + 30, top + height + 34)},
                     {"role", "img"},
                     {"aria-label", "roofline"}});
    for (double decade = xs.from; decade <= xs.to; ++decade) {
        const double x = x_of(std::pow(10, decade));
        out.leaf("path", {{"class", "grid"}, {"d", fmt::format("M{} {}v{}", px(x), px(top), px(height))}});
        out.leaf("text", {{"class", "middle"}, {"x", px(x)}, {"y", px(top + height + 13)}},
                 fmt::format("{:g}", std::pow(10, decade)));
    }
    for (double decade = ys.from; decade <= ys.to; ++decade) {
        const double y = y_of(std::pow(10, decade));
        out.leaf("path", {{"class", "grid"}, {"d", fmt::format("M{} {}h{}", px(left), px(y), px(width))}});
        out.leaf("text", {{"class", "end"}, {"x", px(left - 6)}, {"y", px(y + 3)}},
                 human_flops(static_cast<i64>(std::pow(10, decade))) + "/s");
    }
    const double start = std::max(std::pow(10, xs.from), std::pow(10, ys.from) / bandwidth);
    for (const auto& [dtype, rate] : roofs) {
        if (rate <= 0) continue;
        out.leaf("path", {{"class", "roof"},
                          {"d", fmt::format("M{} {}L{} {}H{}", px(x_of(start)), px(y_of(start * bandwidth)),
                                            px(x_of(rate / bandwidth)), px(y_of(rate)), px(left + width))}});
        out.leaf("text", {{"class", "end"}, {"x", px(left + width)}, {"y", px(y_of(rate) - 4)}},
                 fmt::format("{} {}/s", name(dtype), human_flops(static_cast<i64>(rate))));
    }
    const double most = all.front().total();
    for (const Point& point : points) {
        const double radius = std::max(1.5, 10 * std::sqrt(point.total() / most));
        out.open("circle", {{"class", "kernel"},
                            {"cx", px(x_of(point.intensity()))},
                            {"cy", px(y_of(point.rate()))},
                            {"r", px(radius)}});
        out.leaf("title", {}, fmt::format("{}: {}, {}", point.op, point.name, human_seconds(point.total()))).close();
    }
    out.leaf("text", {{"class", "middle"}, {"x", px(left + width / 2)}, {"y", px(top + height + 29)}},
             "FLOP per byte of memory; the area of a dot is its time in a step");
    out.close().close().line();
}

// What takes most of its time.
std::string_view bound_of(const Hardware& hardware, const Point& point) {
    if (2 * hardware.kernel_launch >= point.seconds) return "launch";
    // A difference of two points of time is rounded.
    return point.seconds <= memory_seconds(hardware, point.bytes) * (1 + 1e-6) ? "memory" : "compute";
}

void write_table(Markup& out, const PageData& data, const std::vector<Point>& points) {
    const Hardware& hardware = *data.compilation.hardware;
    out.open("div", {{"class", "scroll"}, {"tabindex", "0"}}).open("table");
    write_head(out,
               {"kernel", "makes", "-times", "-time", "-of compute", "-FLOP", "-FLOP per byte", "bound by", "source"});
    out.open("tbody");
    for (size_t i = 0; i < std::min(points.size(), most_rows); ++i) {
        const Point& point = points[i];
        const std::string_view bound = bound_of(hardware, point);
        out.open("tr").leaf("td", {{"class", "strong"}}, point.op).leaf("td", {{"class", "name"}}, point.name);
        write_number(out, grouped(point.count), 0);
        write_number(out, human_seconds(point.total()), 0);
        write_number(out, percent(point.total(), data.plan.report.time.compute_seconds), 0);
        write_number(out, human_flops(point.flops), 0);
        write_number(out, fmt::format("{:.1f}", point.intensity()), 0);
        out.leaf("td", {}, bound).open("td");
        write_place(out, data.plan, point.source, text(point.source));
        out.close().close().line();
    }
    out.close().close().close().line();
}

void draw(Markup& out, const PageData& data) {
    Kernels kernels(data);
    const std::vector<Point> points = kernels.run();
    if (points.empty()) {
        out.leaf("p", {}, "No kernel takes time on this hardware.").line();
        return;
    }
    draw_chart(out, *data.compilation.hardware, points, kernels.roofs());
    write_table(out, data, points);
}

} // namespace

const PanelDef& panel_roofline() {
    static const PanelDef def = {.id = "kernels",
                                 .title = "Kernels",
                                 .about = "What bounds them: arithmetic (the flat roofs, of products), memory (the "
                                          "slope), or their launch (far below).",
                                 .order = 6,
                                 .draw = draw};
    return def;
}

} // namespace shard
