#include "planner/price/memory_report.h"

#include "planner/price/time_report.h"
#include "plans/plan/plan_check_types.h"

#include <algorithm>
#include <map>

namespace shard {

namespace {

// Bytes by category while the steps run. A root buffer counts once, as what it holds at the time.
class Meter {
public:
    Meter(const Plan& plan, const std::vector<Content>& contents) : plan_(&plan), contents_(&contents) {}

    MemoryUse run() {
        for (const PlanInput& input : plan_->inputs) hold(input.buffer);
        note(0);
        run_list(plan_->steps);
        while (!held_.empty()) drop(held_.begin()->first);
        out_.most.peak = plan_->peak_bytes;
        out_.most.host_peak = plan_->host_peak_bytes;
        out_.steps = at_ + 1;
        return std::move(out_);
    }

private:
    MemoryKind kind_of(int buffer) const {
        // The bytes of a parameter, variable or state stay what they are when its new value is written there.
        const Buffer& own = plan_->buffers[buffer];
        const Buffer& root = plan_->buffers[root_of(plan_->buffers, buffer)];
        const bool is_kept = root.role == Role::param || root.role == Role::variable || root.role == Role::state;
        const Content content = (*contents_)[buffer];
        if (!is_kept && content == Content::gradient) return MemoryKind::gradients;
        switch (is_kept ? root.role : own.role) {
        case Role::param:
        case Role::variable:
            return MemoryKind::params;
        case Role::state:
            return MemoryKind::optimizer_state;
        case Role::gradient:
            return MemoryKind::gradients;
        case Role::input:
            return MemoryKind::inputs;
        default:
            return content == Content::value ? MemoryKind::activations : MemoryKind::temporaries;
        }
    }

    void hold(int buffer) {
        if (plan_->buffers[buffer].on_host) return;
        const int root = root_of(plan_->buffers, buffer);
        const MemoryKind kind = kind_of(buffer);
        const std::map<int, HeldBytes>::iterator it = held_.find(root);
        if (it != held_.end()) {
            const HeldBytes& before = it->second;
            if (before.kind == kind && plan_->buffers[before.buffer].name == plan_->buffers[buffer].name) return;
            // It ends with the step before, unless it has just begun.
            drop(root, std::max(before.first, at_ - 1));
        }
        const Buffer& bytes = plan_->buffers[root];
        bytes_of(now_, kind) += bytes.bytes;
        total_ += bytes.bytes;
        held_[root] = {buffer, kind, bytes.offset, bytes.bytes, at_, at_, nullptr};
    }

    void drop(int root) { drop(root, at_); }
    void drop(int root, i64 last) {
        const std::map<int, HeldBytes>::iterator it = held_.find(root);
        if (it == held_.end()) return;
        it->second.last = last;
        bytes_of(now_, it->second.kind) -= it->second.bytes;
        total_ -= it->second.bytes;
        out_.held.push_back(it->second);
        held_.erase(it);
    }

    void note(i64 scratch) {
        if (total_ + scratch <= most_total_) return;
        most_total_ = total_ + scratch;
        out_.most = now_;
        out_.most.temporaries += scratch;
        out_.peak_step = at_;
    }

    void run_list(const std::vector<Step>& steps) {
        for (const Step& step : steps) {
            ++at_;
            i64 scratch = 0;
            if (const Compute* compute = std::get_if<Compute>(&step.variant_ref())) {
                hold(compute->output);
                scratch = compute->scratch_bytes;
                if (scratch > 0)
                    out_.held.push_back(
                        {-1, MemoryKind::temporaries, compute->scratch_offset, scratch, at_, at_, compute});
            }
            if (const Start* start = std::get_if<Start>(&step.variant_ref())) hold(start->output);
            if (const Loop* loop = std::get_if<Loop>(&step.variant_ref())) run_list(loop->body); // every trip is alike
            note(scratch);
            if (const Release* release = std::get_if<Release>(&step.variant_ref())) drop(release->buffer, at_ - 1);
        }
    }

    const Plan* plan_;
    const std::vector<Content>* contents_; // by buffer
    std::map<int, HeldBytes> held_;        // by root: what it holds now
    MemoryUse out_;
    MemoryReport now_;
    i64 total_ = 0, most_total_ = -1, at_ = -1;
};

} // namespace

std::string_view name(MemoryKind kind) {
    constexpr std::string_view names[memory_kinds] = {"inputs",    "params",      "optimizer state",
                                                      "gradients", "activations", "temporaries"};
    return names[static_cast<size_t>(kind)];
}

i64& bytes_of(MemoryReport& memory, MemoryKind kind) {
    static constexpr i64 MemoryReport::*figures[] = {&MemoryReport::inputs,          &MemoryReport::params,
                                                     &MemoryReport::optimizer_state, &MemoryReport::gradients,
                                                     &MemoryReport::activations,     &MemoryReport::temporaries};
    return memory.*figures[static_cast<size_t>(kind)];
}

MemoryUse memory_use(const Plan& plan, const std::vector<Content>& contents) { return Meter(plan, contents).run(); }

std::string held_name(const Plan& plan, std::span<const TensorReport> arrays, const HeldBytes& held) {
    constexpr std::string_view zeros = ".zeros";
    if (held.by != nullptr) return "scratch of " + held.by->op;
    const std::string& name = plan.buffers[static_cast<size_t>(held.buffer)].name;
    const auto is_it = [&name](const TensorReport& tensor) { return tensor.name == name; };
    if (!name.ends_with(zeros) || std::any_of(arrays.begin(), arrays.end(), is_it)) return name;
    return name.substr(0, name.size() - zeros.size());
}

std::vector<HeldBytes> held_at_peak(const MemoryUse& use) {
    std::vector<HeldBytes> alive;
    for (const HeldBytes& held : use.held)
        if (held.first <= use.peak_step && use.peak_step <= held.last && held.bytes > 0) alive.push_back(held);
    std::stable_sort(alive.begin(), alive.end(),
                     [](const HeldBytes& a, const HeldBytes& b) { return a.bytes > b.bytes; });
    return alive;
}

void add_largest(MemoryReport& memory, const MemoryUse& use, const Plan& plan, std::span<const TensorReport> tensors) {
    constexpr size_t most = 12;
    std::map<std::string_view, const SourceRef*> places; // by name
    for (const TensorReport& tensor : tensors) places.try_emplace(tensor.name, &tensor.source);
    std::vector<const Compute*> makers(plan.buffers.size()); // the first step that makes what a buffer holds
    for_each_step(plan, [&](const Step& step, i64) {
        if (const Compute* compute = std::get_if<Compute>(&step.variant_ref()))
            if (const Compute*& maker = makers[static_cast<size_t>(compute->output)]; maker == nullptr) maker = compute;
    });
    const std::vector<HeldBytes> alive = held_at_peak(use);
    for (size_t i = 0; i < std::min(alive.size(), most); ++i) {
        const HeldBytes& held = alive[i];
        AtPeak& value = memory.largest.emplace_back();
        value.kind = name(held.kind);
        value.bytes = held.bytes;
        value.name = held_name(plan, tensors, held);
        if (held.by != nullptr) {
            value.source = held.by->source;
            continue;
        }
        const size_t buffer = static_cast<size_t>(held.buffer);
        if (const auto place = places.find(value.name); place != places.end())
            value.source = *place->second;
        else if (makers[buffer] != nullptr)
            value.source = makers[buffer]->source;
    }
    memory.others = static_cast<i64>(alive.size() - memory.largest.size());
}

std::vector<Content> contents_of_buffers(const Graph& graph, const Local& local, const ScheduleMap& map) {
    const LocalNames names(graph, local);
    std::vector<Content> contents;
    for (const std::vector<ValueId>& values : map.values) {
        Content& content = contents.emplace_back(Content::copy);
        for (ValueId id : values) content = std::max(content, names.content(id));
    }
    return contents;
}

} // namespace shard
