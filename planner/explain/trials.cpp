#include "planner/explain/trials.h"

#include "planner/pipeline/graph_pass.h"
#include "planner/pipeline/pipeline.h"
#include "plans/base/in_parallel.h"
#include "plans/base/sha1.h"

#include <fmt/format.h>

namespace shard {

namespace {

// All that the passes from `spread` on read and a change could alter.
std::string what_is_read(const Compilation& way) {
    std::string text = graph_text(*graph_state(way), {nullptr, true});
    for (const std::optional<Sharding>& seed : way.seeds->values) text += seed ? '1' : '0';
    return text + (!way.layout->fsdp || way.layout->fsdp->prefetch ? '1' : '0');
}

// Two constraints on one line read alike.
std::string id_of(const Change& change) {
    std::string id = change.text;
    for (const Span& span : change.without_constraints) id += fmt::format(" {}:{}", span.line, span.column);
    return id;
}

} // namespace

Trials::Trials(const Compilation& as_it_is, const Sources& sources, const PlanRequest& request)
    : sources_(sources), request_(request) {
    const size_t seed = passes_before("seed", request).size(), spread = passes_before("spread", request).size();
    to_propagate_ = request.passes.subspan(seed, spread - seed);
    from_spread_ = request.passes.subspan(spread);
    request_.checks = false;
    to_seed_ = request.passes.first(seed);
    begun_.decisions = as_it_is.decisions;
    run_passes(begun_, to_seed_, request_, sources_);
    if (begun_.diagnostics.has_error()) return;
    Sources same = sources_;
    if (const std::optional<Shared> unchanged = propagated(*begun_.layout, request_, same))
        owners_.emplace(unchanged->key, "");
}

std::vector<std::optional<Report>> Trials::run(std::span<const Change> changes) {
    std::vector<const Change*> unknown;
    for (const Change& change : changes)
        if (owner_of_.emplace(id_of(change), "").second) unknown.push_back(&change);
    in_parallel(unknown.size(), [&](size_t i) { plan(*unknown[i]); });
    std::vector<std::optional<Report>> reports;
    for (const Change& change : changes) {
        const std::map<std::string, std::optional<Report>>::const_iterator found =
            reports_.find(owner_of_.at(id_of(change)));
        reports.push_back(found == reports_.end() ? std::nullopt : found->second);
    }
    return reports;
}

void Trials::plan(const Change& change) {
    PlanRequest request = request_;
    request.without_constraints = change.without_constraints;
    Sources sources = sources_;
    std::optional<Shared> shared = propagated(change.layout, request, sources);
    const std::string id = id_of(change);
    if (!shared || is_taken(shared->key, id)) return;
    std::optional<Report> report = finished(std::move(shared->ways), request, sources);
    const std::lock_guard<std::mutex> lock(mutex_);
    reports_.emplace(id, std::move(report));
}

// Else it is this change's from now on.
bool Trials::is_taken(const Key& key, const std::string& id) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [owner, is_new] = owners_.emplace(key, id);
    owner_of_[id] = owner->second;
    return !is_new;
}

// nullopt: it does not fit the model.
std::optional<Trials::Shared> Trials::propagated(const Layout& layout, const PlanRequest& request,
                                                 Sources& sources) const {
    Compilation begun = begun_;
    if (!request.without_constraints.empty()) { // another model
        begun = Compilation();
        begun.decisions = begun_.decisions;
        run_passes(begun, to_seed_, request, sources);
        if (begun.diagnostics.has_error()) return std::nullopt;
    }
    begun.layout = layout;
    Shared shared{ways_of(std::move(begun)), {}};
    std::string text;
    for (Compilation& way : shared.ways) {
        run_passes(way, to_propagate_, request, sources);
        if (!way.diagnostics.has_error()) text += what_is_read(way);
    }
    if (shared.ways[0].diagnostics.has_error()) return std::nullopt;
    shared.key = sha1(text);
    return shared;
}

std::optional<Report> Trials::finished(std::vector<Compilation> ways, const PlanRequest& request,
                                       Sources& sources) const {
    for (Compilation& way : ways) run_passes(way, from_spread_, request, sources);
    Compilation best = best_of(std::move(ways));
    if (!best.plan) return std::nullopt;
    best.plan->report.tensors.clear();
    return std::move(best.plan->report);
}

} // namespace shard
