#include "cli/trace/step_trace.h"

#include "cli/report/nouns.h"
#include "plans/json/json_text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>

namespace shard {

namespace {

constexpr int computes = 1, links = 2; // tracks
constexpr double least_release = 1e-5; // shorter ones are only in the way

// What a trace says of a step, whenever it runs.
struct TraceLabel {
    std::string name;
    std::string_view category;
    std::string path; // the name of the value: modules and layers, joined by dots
    std::string details;
    int token = -1;      // of a collective
    bool starts = false; // the collective, otherwise it is waited for
};

class Labels {
public:
    Labels(const Plan& plan, const Course* course) : plan_(plan), course_(course) {
        add(plan.steps);
        memory_.resize(labels_.size());
        if (course != nullptr) count_memory();
    }
    const TraceLabel& of(int step) const { return labels_.at(step); }
    // A chart's values while a step runs; empty if they are not known.
    const std::string& memory(int step) const { return memory_.at(step); }

private:
    void count_memory() {
        std::vector<std::array<i64, memory_kinds>> change(labels_.size() + 1);
        for (const HeldBytes& held : course_->memory.held) {
            const size_t kind = static_cast<size_t>(held.kind);
            change[std::max<i64>(held.first, 0)][kind] += held.bytes;
            change[held.last + 1][kind] -= held.bytes;
        }
        std::array<i64, memory_kinds> now = {};
        for (size_t step = 0; step < labels_.size(); ++step) {
            JsonObject values;
            for (size_t kind = 0; kind < memory_kinds; ++kind)
                values.integer(name(static_cast<MemoryKind>(kind)), now[kind] += change[step][kind]);
            memory_[step] = values.text();
        }
    }

    void add(const std::vector<Step>& steps) {
        for (const Step& step : steps) std::visit([this](const auto& s) { add(s); }, step.variant_ref());
    }
    void add(const Compute& compute) {
        const Buffer& output = plan_.buffers[compute.output];
        JsonObject details;
        details.string("op", compute.op).string("makes", type_text(output.dtype, output.shape));
        if (course_ != nullptr) {
            const StepSpan& span = course_->time.spans.at(labels_.size());
            details.integer("flops", span.flops).integer("bytes", span.bytes);
        }
        labels_.push_back({output.name, "compute", output.name, placed(details, compute.source)});
    }
    void add(const Start& start) {
        const CollectiveReport& c = plan_.report.collectives.at(collectives_++); // in the order of the steps
        const std::string name = fmt::format("{} of {} over {}", c.kind, c.tensor, axes_text(plan_.mesh, c.axes));
        JsonObject details;
        details.integer("bytes sent by a device", c.wire_bytes_per_device / std::max<i64>(c.count, 1));
        details.string("cause", c.cause);
        TraceLabel label{name, "collective", c.tensor, placed(details, c.source), start.token, true};
        waits_[start.token] = label;
        labels_.push_back(std::move(label));
    }
    void add(const Wait& wait) {
        TraceLabel label = waits_.at(wait.token);
        label.name = "wait for " + label.name;
        label.category = "wait";
        label.starts = false;
        labels_.push_back(std::move(label));
    }
    void add(const Loop& loop) {
        labels_.push_back({fmt::format("loop, {} trips", loop.trips), "loop", {}, {}});
        add(loop.body);
    }
    void add(const Release& release) {
        const std::string& name = plan_.buffers[release.buffer].name;
        labels_.push_back({"release of " + name, "release", name, {}});
    }

    static std::string placed(JsonObject& details, const SourceRef& source) {
        if (!source.file.empty()) details.string("source", fmt::format("{}:{}", source.file, source.line));
        return details.text();
    }

    const Plan& plan_;
    const Course* course_;
    std::vector<TraceLabel> labels_;
    std::vector<std::string> memory_;
    std::map<int, TraceLabel> waits_; // by token
    size_t collectives_ = 0;
};

struct Item {
    const TraceLabel* label = nullptr;
    int step = -1;
    double begin = 0, end = 0;
    size_t scope = 0; // which trip of which loop it is in
};

// "block.3" of "block.3.attn.q" at depth 2; empty if the name has no more parts than that.
std::string_view module_of(std::string_view name, size_t depth) {
    size_t dot = 0;
    for (size_t part = 0; part < depth; ++part) {
        dot = name.find('.', part == 0 ? 0 : dot + 1);
        if (dot == std::string_view::npos) return {};
    }
    return name.substr(0, dot);
}

// Neighbours of one module lie in a slice of it, as deep as the names go.
void add_nested(TraceFile& file, TraceTrack track, std::span<const Item> items, size_t depth = 1) {
    for (size_t i = 0; i < items.size();) {
        const std::string_view module = module_of(items[i].label->path, depth);
        size_t next = i + 1;
        while (!module.empty() && next < items.size() && items[next].scope == items[i].scope &&
               module_of(items[next].label->path, depth) == module)
            ++next;
        if (next > i + 1) {
            file.add(track, {std::string(module), "module", items[i].begin, items[next - 1].end, {}});
            add_nested(file, track, items.subspan(i, next - i), depth + 1);
        } else {
            const TraceLabel& label = *items[i].label;
            file.add(track, {label.name, label.category, items[i].begin, items[i].end, label.details});
        }
        i = next;
    }
}

void add_computes(TraceFile& file, TraceTrack track, std::vector<Item> items) {
    std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    struct Trip {
        double loop_end = 0;
        int last_step = -1;
        size_t scope = 0;
    };
    std::vector<Trip> open;
    size_t scopes = 0;
    for (Item& item : items) {
        while (!open.empty() && open.back().loop_end <= item.begin) open.pop_back();
        if (!open.empty()) {
            Trip& trip = open.back();
            if (item.step <= trip.last_step) trip.scope = ++scopes; // the body begins again
            trip.last_step = item.step;
            item.scope = trip.scope;
        }
        if (item.label->category == "loop") open.push_back({item.end, -1, ++scopes});
    }
    file.name_track(track, "computes");
    add_nested(file, track, items);
}

std::string device_text(const Mesh& mesh, i64 position) {
    const std::vector<i64> at = coordinates_of(mesh, position);
    std::vector<std::string> parts;
    for (size_t axis = 0; axis < at.size(); ++axis)
        parts.push_back(fmt::format("{} {}", mesh.axes[axis].name, at[axis]));
    return parts.empty() ? fmt::format("device {}", position)
                         : fmt::format("device {} ({})", position, fmt::join(parts, ", "));
}

} // namespace

void add_prediction(TraceFile& file, const Plan& plan, const Course& course) {
    constexpr int process = 0;
    const Labels labels(plan, &course);
    file.name_process(process, fmt::format("predicted, each device: {}", plan.report.hardware));
    file.name_track({process, links}, "links");
    std::vector<Item> items;
    std::string_view memory;
    for (size_t step = 0; step < course.time.spans.size(); ++step) {
        const TraceLabel& label = labels.of(static_cast<int>(step));
        const StepSpan& span = course.time.spans[step];
        if (labels.memory(static_cast<int>(step)) != memory) {
            memory = labels.memory(static_cast<int>(step));
            file.add_counter(process, "memory", span.begin, memory);
        }
        if (span.end <= span.begin) continue;
        if (label.starts)
            file.add({process, links}, {label.name, label.category, span.begin, span.end, label.details});
        else
            items.push_back({&label, static_cast<int>(step), span.begin, span.end});
    }
    add_computes(file, {process, computes}, std::move(items));
}

void add_execution(TraceFile& file, const Plan& plan, const Course* course,
                   std::span<const std::vector<RunSpan>> devices) {
    const Labels labels(plan, course);
    for (size_t device = 0; device < devices.size(); ++device) {
        const int process = static_cast<int>(device) + 1;
        file.name_process(process, "executed, " + device_text(plan.mesh, static_cast<i64>(device)));
        std::vector<Item> items;
        std::map<int, double> begins; // of collectives, by token
        std::string_view memory;
        int flights = 0;
        for (const RunSpan& span : devices[device]) {
            const TraceLabel& label = labels.of(span.step);
            if (label.category != "loop" && labels.memory(span.step) != memory) {
                memory = labels.memory(span.step);
                file.add_counter(process, "memory", span.begin, memory);
            }
            if (label.category == "release" && span.end - span.begin < least_release) continue;
            if (label.starts) {
                begins[label.token] = span.begin;
            } else {
                items.push_back({&label, span.step, span.begin, span.end});
                if (label.token >= 0)
                    file.add_flight(process, flights++,
                                    {label.name.substr(std::string_view("wait for ").size()), "collective",
                                     begins.at(label.token), span.end, label.details});
            }
        }
        add_computes(file, {process, computes}, std::move(items));
    }
}

} // namespace shard
