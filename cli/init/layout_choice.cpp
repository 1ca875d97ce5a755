#include "cli/init/layout_choice.h"

#include "plans/base/in_parallel.h"
#include "plans/plan/report_totals.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>

namespace shard {

namespace {

constexpr i64 largest_model = 64; // more devices than that in tensor parallelism are no layout that is used

const FamilyAxis* find_axis(const LayoutAsked& asked, std::string_view name) {
    for (const FamilyAxis& axis : asked.axes)
        if (axis.name == name) return &axis;
    return nullptr;
}

bool divides(const LayoutAsked& asked, std::string_view name, i64 parts) {
    const FamilyAxis* axis = find_axis(asked, name);
    return axis != nullptr && axis->size % parts == 0;
}

// The mesh axes that a logical axis is split over: "data", "[replica, data]", "~".
std::string split_of(const FamilyAxis& axis, const LayoutCandidate& candidate, const LayoutAsked& asked) {
    if (axis.name == "batch") {
        if (candidate.replica > 1 && candidate.data > 1) return "[replica, data]";
        if (candidate.replica > 1) return "replica";
        return candidate.data > 1 ? "data" : "~";
    }
    if (axis.name == "experts" && candidate.experts_over_data) return "data";
    constexpr std::string_view within_blocks[] = {"heads",      "kv_heads", "mlp",    "shared_mlp",
                                                  "expert_mlp", "vocab",    "experts"};
    const bool may =
        std::find(std::begin(within_blocks), std::end(within_blocks), axis.name) != std::end(within_blocks) ||
        (axis.name == "length" && candidate.sequence);
    // Keys and values are split as their queries; where experts are, what is within them is not.
    if (axis.name == "kv_heads" && !divides(asked, "heads", candidate.model)) return "~";
    if (axis.name == "expert_mlp" && !candidate.experts_over_data && divides(asked, "experts", candidate.model))
        return "~";
    return may && candidate.model > 1 && axis.size % candidate.model == 0 ? "model" : "~";
}

std::string layout_text(const LayoutCandidate& candidate, const LayoutAsked& asked) {
    std::vector<std::string> mesh;
    for (const auto& [name, size] :
         {std::pair{"replica", candidate.replica}, {"data", candidate.data}, {"model", candidate.model}})
        if (size > 1) mesh.push_back(fmt::format("{}: {}", name, size));
    std::string text = fmt::format("mesh: {{{}}}\nrules:\n", fmt::join(mesh, ", "));
    for (const FamilyAxis& axis : asked.axes)
        if (axis.of_arrays) text += fmt::format("  - {{{}: {}}}\n", axis.name, split_of(axis, candidate, asked));
    text += "  - {layers: ~}\n";
    if (candidate.fsdp) text += "fsdp: {axis: data}\n";
    return text + fmt::format("hardware: {}\n", asked.hardware);
}

std::vector<LayoutCandidate> candidates_of(const LayoutAsked& asked) {
    std::vector<LayoutCandidate> found;
    const FamilyAxis* experts = find_axis(asked, "experts");
    const auto add = [&](LayoutCandidate candidate) {
        candidate.text = layout_text(candidate, asked);
        found.push_back(std::move(candidate));
    };
    for (i64 model = 1; model <= std::min(asked.devices, largest_model); ++model) {
        if (asked.devices % model != 0) continue;
        if (model > 1 && !divides(asked, "heads", model) && !divides(asked, "mlp", model)) continue;
        const i64 copies = asked.devices / model;
        for (i64 data = 1; data <= copies; ++data) {
            if (copies % data != 0) continue;
            LayoutCandidate candidate{.replica = copies / data, .data = data, .model = model, .fsdp = data > 1};
            if (data == 1) std::swap(candidate.replica, candidate.data); // all are replicas
            add(candidate);
            if (experts != nullptr && candidate.data > 1 && experts->size % candidate.data == 0) {
                LayoutCandidate spread = candidate;
                spread.experts_over_data = true;
                add(spread);
            }
            if (model == 1 || !divides(asked, "length", model)) continue;
            candidate.sequence = true;
            add(candidate);
        }
    }
    return found;
}

} // namespace

std::string candidate_name(const LayoutCandidate& candidate) {
    std::vector<std::string> mesh, added;
    for (const auto& [name, size] :
         {std::pair{"replica", candidate.replica}, {"data", candidate.data}, {"model", candidate.model}})
        if (size > 1) mesh.push_back(fmt::format("{} {}", name, size));
    if (candidate.fsdp) added.emplace_back("fsdp");
    if (candidate.sequence) added.emplace_back("length over model");
    if (candidate.experts_over_data) added.emplace_back("experts over data");
    const std::string text = mesh.empty() ? "one device" : fmt::format("{}", fmt::join(mesh, " x "));
    return added.empty() ? text : fmt::format("{}; {}", text, fmt::join(added, ", "));
}

std::vector<LayoutCandidate> planned_candidates(const LoadedModel& model, const LayoutAsked& asked,
                                                const std::function<void(size_t, size_t)>& tell) {
    std::vector<LayoutCandidate> candidates = candidates_of(asked);
    std::mutex telling;
    size_t done = 0;
    in_parallel(candidates.size(), [&](size_t i) {
        LayoutCandidate& candidate = candidates[i];
        Compiled compiled = compile_texts(model, {"layout.yaml", candidate.text}, {asked.mode, asked.settings});
        candidate.plan = std::move(compiled.compilation.plan);
        for (const Diagnostic& diagnostic : compiled.diagnostics().all())
            if (diagnostic.severity == Severity::error && candidate.problem.empty())
                candidate.problem = fmt::format("{}: {}", diagnostic.code, diagnostic.message);
        candidate.fits = candidate.plan && fits(candidate.plan->report.memory);
        if (!tell) return;
        const std::lock_guard lock(telling);
        tell(++done, candidates.size());
    });
    const auto figures = [](const LayoutCandidate& candidate) {
        const double seconds = candidate.plan ? candidate.plan->report.time.step_seconds : 0;
        const i64 peak = candidate.plan ? candidate.plan->report.memory.peak : 0;
        return std::tuple(!candidate.plan, !candidate.fits, candidate.fits ? seconds : 0.0, peak);
    };
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](const LayoutCandidate& a, const LayoutCandidate& b) { return figures(a) < figures(b); });
    return candidates;
}

} // namespace shard
