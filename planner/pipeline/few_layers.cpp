#include "planner/pipeline/few_layers.h"

#include "planner/pipeline/layer_map.h"
#include "planner/pipeline/passes.h"
#include "planner/pipeline/pipeline.h"

namespace shard {

std::optional<Compilation> few_layers_before(std::string_view pass, const Compilation& all, PlanRequest request,
                                             Sources sources) {
    if (request.model_file < 0 || request.most_layers || !has_many_layers(*all.graph)) return std::nullopt;
    if (all.layout->prefer == Prefer::memory) return std::nullopt; // few layers are fullest elsewhere than many
    request.most_layers = few_layers;
    request.checks = false;
    const std::span<const PassDef> begin = passes_before("seed", request), before = passes_before(pass, request);
    Compilation few;
    run_passes(few, begin, request, sources);
    if (few.diagnostics.has_error()) return std::nullopt;
    few.layout = all.layout;
    few.hardware = all.hardware;
    few.decisions = all.decisions;
    run_passes(few, before.subspan(begin.size()), request, sources);
    if (few.diagnostics.has_error()) return std::nullopt;
    return few;
}

} // namespace shard
