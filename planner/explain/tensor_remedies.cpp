#include "planner/explain/tensor_remedies.h"

#include "planner/explain/few_layers.h"

#include <algorithm>

namespace shard {

namespace {

constexpr size_t most_remedies = 5; // of a tensor
constexpr size_t small = 120;       // nodes of a model of which everything is tried, of each tensor
constexpr size_t least_tries = 4;   // of a tensor
constexpr size_t least_helpful = 3; // of a model with many layers, of those that help one with few

// The lines that an explanation names: where the axes come from, what the collectives are for, and the array itself.
std::vector<Span> named_by(const Explanation& explanation, const Layout& layout, const Sources& sources) {
    std::vector<SourceRef> places = {explanation.tensor->source};
    for (const DimReason& dim : explanation.dims)
        for (const AxisReason& axis : dim.axes)
            for (const Because& step : axis.chain) places.push_back(step.source);
    for (const CollectiveReport& collective : explanation.collectives) places.push_back(collective.source);
    std::vector<Span> spans;
    for (const SourceRef& place : places)
        for (int file = 0; file < sources.count(); ++file)
            if (place.line > 0 && sources.name(file) == place.file) spans.push_back({file, place.line, place.column});
    const std::vector<std::string>& logical = explanation.tensor->logical;
    for (const AxisRule& rule : layout.rules)
        if (std::find(logical.begin(), logical.end(), rule.logical) != logical.end()) spans.push_back(rule.span);
    return spans;
}

// The changes that may help each tensor, as many as a model of this size allows.
std::vector<std::vector<Change>> promising(std::span<Explanation> explanations, const Compilation& compilation,
                                           const Sources& sources, const Compilation& tried_on) {
    const std::vector<Change> general = possible_changes(compilation, sources);
    const size_t share = most_tries(tried_on, 1) / std::max<size_t>(1, explanations.size());
    std::vector<std::vector<Change>> out;
    for (Explanation& explanation : explanations) {
        std::vector<Change>& changes = out.emplace_back();
        if (explanation.as_it_is.touching == 0) continue;
        changes = general;
        override_tensor(compilation, explanation.tensor->name, changes);
        explanation.possible = changes.size();
        if (tried_on.graph->nodes.size() >= small)
            keep_most_promising(changes, std::max(share, least_tries),
                                named_by(explanation, *compilation.layout, sources));
        explanation.tried = changes.size();
    }
    return out;
}

// By tensor what its changes do, best first. All are planned side by side, and what several tensors ask for once.
std::vector<std::vector<Help>> tried(std::span<const Explanation> explanations, const Report& base,
                                     const std::vector<std::vector<Change>>& changes, Trials& trials) {
    std::vector<Change> all;
    for (const std::vector<Change>& each : changes) all.insert(all.end(), each.begin(), each.end());
    const std::vector<std::optional<Report>> reports = trials.run(all);
    std::span<const std::optional<Report>> rest = reports;
    std::vector<std::vector<Help>> out;
    for (size_t i = 0; i < explanations.size(); ++i) {
        out.push_back(changes_that_help(base, changes[i], rest.first(changes[i].size()), explanations[i].tensor->name));
        rest = rest.subspan(changes[i].size());
    }
    return out;
}

// In turns, of each tensor what helps it next where there are few layers, until there are `most` different ones.
std::vector<std::vector<Change>> helpful(std::span<const Explanation> explanations,
                                         const std::vector<std::vector<Change>>& changes, FewLayers& few, size_t most) {
    const std::vector<std::vector<Help>> helps = tried(explanations, few.planned.plan->report, changes, few.trials);
    std::vector<std::vector<Change>> out(explanations.size());
    std::vector<std::string> taken;
    for (size_t turn = 0; turn < most_remedies; ++turn)
        for (size_t i = 0; i < helps.size(); ++i) {
            if (turn >= helps[i].size()) continue;
            const Change& change = changes[i][helps[i][turn].change];
            const bool is_new = std::find(taken.begin(), taken.end(), change.text) == taken.end();
            if (is_new && taken.size() == most) continue;
            if (is_new) taken.push_back(change.text);
            out[i].push_back(change);
        }
    return out;
}

Experiment said(const Help& help, const std::vector<Change>& changes, const Compilation& compilation) {
    Experiment experiment = help.experiment;
    experiment.change = text_of(changes[help.change], compilation);
    return experiment;
}

} // namespace

void add_remedies(std::span<Explanation> explanations, const Compilation& compilation, const Sources& sources,
                  const PlanRequest& request) {
    const std::unique_ptr<FewLayers> few = with_few_layers(compilation, sources, request);
    std::vector<std::vector<Change>> changes =
        promising(explanations, compilation, sources, few ? few->planned : compilation);
    if (few) changes = helpful(explanations, changes, *few, most_tries(compilation, least_helpful));
    Trials trials(compilation, sources, request);
    const std::vector<std::vector<Help>> helps = tried(explanations, compilation.plan->report, changes, trials);
    for (size_t i = 0; i < explanations.size(); ++i)
        for (size_t n = 0; n < std::min(helps[i].size(), most_remedies); ++n)
            explanations[i].remedies.push_back(said(helps[i][n], changes[i], compilation));
}

} // namespace shard
