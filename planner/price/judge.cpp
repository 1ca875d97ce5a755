// Policy and budgets -> findings. Each says the figure, the limit and what contributes most.
#include "planner/price/judge.h"

#include "planner/price/price.h"
#include "plans/base/saturating.h"
#include "plans/base/units.h"
#include "plans/plan/report_totals.h"
#include "plans/plan/source_ref.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

constexpr size_t shown = 5; // contributors per finding

// The largest first, the rest summed up; equal ones in the order of the report.
template<class T, class Amount, class Text>
void note_largest(DiagnosticBuilder& finding, std::vector<const T*> items, const Amount& amount, const Text& text) {
    std::stable_sort(items.begin(), items.end(), [&](const T* a, const T* b) { return amount(*a) > amount(*b); });
    for (size_t i = 0; i < items.size() && i < shown; ++i) finding.note(text(*items[i]));
    if (items.size() > shown) finding.note(fmt::format("and {} more", items.size() - shown));
}

std::string place_text(const SourceRef& source) {
    return source == SourceRef{} ? "" : fmt::format(" ({})", text(source));
}

std::string tensor_text(const Mesh& mesh, const TensorReport& tensor) {
    return fmt::format("{}: {} of {} {} {}{}", tensor.name, exact_bytes(tensor.bytes_per_device), name(tensor.dtype),
                       shape_text(tensor.shape), text(mesh, tensor.sharding), place_text(tensor.source));
}

std::string collective_text(const Mesh& mesh, const CollectiveReport& collective) {
    std::string out = fmt::format("{} over {} of {}: {}", collective.kind, text(mesh, collective.axes),
                                  collective.tensor, exact_bytes(collective.wire_bytes_per_device));
    if (collective.count > 1) out += fmt::format(" in {} executions", collective.count);
    if (!collective.cause.empty()) out += ", " + collective.cause;
    return out + place_text(collective.source);
}

class Judge {
public:
    Judge(const Plan& plan, const PolicyDecl& policy, Diagnostics& diagnostics)
        : plan_(&plan), report_(&plan.report), policy_(&policy), diagnostics_(&diagnostics) {}

    void run() {
        check_capacity();
        check_memory();
        check_wire_bytes();
        check_collectives();
        check_replicated();
        check_time();
    }

private:
    std::vector<const TensorReport*> tensors() const {
        std::vector<const TensorReport*> all;
        for (const TensorReport& tensor : report_->tensors) all.push_back(&tensor);
        return all;
    }
    std::vector<const CollectiveReport*> collectives(std::string_view kind = {}) const {
        std::vector<const CollectiveReport*> all;
        for (const CollectiveReport& collective : report_->collectives)
            if (kind.empty() || collective.kind == kind) all.push_back(&collective);
        return all;
    }
    void note_tensors(DiagnosticBuilder& finding, std::vector<const TensorReport*> items) const {
        note_largest(
            finding, std::move(items), [](const TensorReport& t) { return t.bytes_per_device; },
            [this](const TensorReport& t) { return tensor_text(plan_->mesh, t); });
    }
    void note_collectives(DiagnosticBuilder& finding, std::vector<const CollectiveReport*> items) const {
        note_largest(
            finding, std::move(items), [](const CollectiveReport& c) { return c.wire_bytes_per_device; },
            [this](const CollectiveReport& c) { return collective_text(plan_->mesh, c); });
    }

    void check_capacity() {
        const MemoryReport& memory = report_->memory;
        if (memory.capacity <= 0 || memory.peak <= memory.capacity) return;
        DiagnosticBuilder warning =
            diagnostics_->warning("W0401", policy_->span,
                                  fmt::format("the plan needs {} per device, {} has {}", exact_bytes(memory.peak),
                                              report_->hardware, exact_bytes(memory.capacity)));
        note_tensors(warning, tensors());
    }

    void check_memory() {
        const i64 peak = report_->memory.peak;
        if (!policy_->max_memory_per_device || peak <= *policy_->max_memory_per_device) return;
        DiagnosticBuilder finding =
            diagnostics_->finding("P0101", policy_->place("max_memory_per_device"),
                                  fmt::format("peak memory is {} per device, the limit is {}", exact_bytes(peak),
                                              exact_bytes(*policy_->max_memory_per_device)));
        note_tensors(finding, tensors());
    }

    void check_wire_bytes() {
        const i64 bytes = wire_bytes_per_device(*report_);
        if (!policy_->max_wire_bytes_per_device || bytes <= *policy_->max_wire_bytes_per_device) return;
        DiagnosticBuilder finding =
            diagnostics_->finding("P0102", policy_->place("max_wire_bytes_per_device"),
                                  fmt::format("a device sends {}, the limit is {}", exact_bytes(bytes),
                                              exact_bytes(*policy_->max_wire_bytes_per_device)));
        note_collectives(finding, collectives());
    }

    void check_collectives() {
        const i64 count = collective_count(*report_);
        if (policy_->max_collectives && count > *policy_->max_collectives) {
            DiagnosticBuilder finding =
                diagnostics_->finding("P0103", policy_->place("max_collectives"),
                                      fmt::format("the plan executes {}, the limit is {}", counted(count, "collective"),
                                                  *policy_->max_collectives));
            note_collectives(finding, collectives());
        }
        for (const std::string& kind : policy_->forbid_collectives) {
            const std::vector<const CollectiveReport*> found = collectives(kind);
            if (found.empty()) continue;
            DiagnosticBuilder finding =
                diagnostics_->finding("P0104", policy_->place("forbid_collectives"),
                                      fmt::format("{} is forbidden, the plan has {}", kind, found.size()));
            note_collectives(finding, found);
        }
    }

    void check_replicated() {
        if (!policy_->max_replicated_param_bytes || plan_->mesh.device_count() == 1) return;
        std::vector<const TensorReport*> whole;
        i64 bytes = 0;
        for (const TensorReport& tensor : report_->tensors) {
            if (tensor.role != Role::param || !is_fully_replicated(tensor.sharding)) continue;
            whole.push_back(&tensor);
            bytes = add_saturating(bytes, tensor.bytes_per_device);
        }
        if (bytes <= *policy_->max_replicated_param_bytes) return;
        DiagnosticBuilder finding =
            diagnostics_->finding("P0105", policy_->place("max_replicated_param_bytes"),
                                  fmt::format("{} of parameters are held in full by every device, the limit is {}",
                                              exact_bytes(bytes), exact_bytes(*policy_->max_replicated_param_bytes)));
        note_tensors(finding, std::move(whole));
    }

    void check_time() {
        const TimeReport& time = report_->time;
        if (!policy_->max_step_seconds || time.step_seconds <= *policy_->max_step_seconds) return;
        diagnostics_
            ->finding("P0106", policy_->place("max_step_seconds"),
                      fmt::format("a step takes {} on {}, the limit is {}", human_seconds(time.step_seconds),
                                  report_->hardware, human_seconds(*policy_->max_step_seconds)))
            .note(fmt::format("computation {}, waiting for collectives {}", human_seconds(time.compute_seconds),
                              human_seconds(time.exposed_communication_seconds)));
    }

    const Plan* plan_;
    const Report* report_;
    const PolicyDecl* policy_;
    Diagnostics* diagnostics_;
};

} // namespace

void judge(const Plan& plan, const PolicyDecl& policy, Diagnostics& diagnostics) {
    Judge(plan, policy, diagnostics).run();
}

} // namespace shard
