#include "planner/explain/few_layers.h"

#include "planner/pipeline/layer_map.h"
#include "planner/pipeline/pipeline.h"

namespace shard {

namespace {

constexpr size_t worth_it = 3; // so many times as many nodes have all layers

// As full as all layers fill a device.
i64 capacity_of(const MemoryReport& few_layers, const MemoryReport& all) {
    if (all.peak == 0) return few_layers.capacity;
    return static_cast<i64>(static_cast<double>(all.capacity) * static_cast<double>(few_layers.peak) /
                            static_cast<double>(all.peak));
}

} // namespace

std::unique_ptr<FewLayers> with_few_layers(const Compilation& all, const Sources& sources, const PlanRequest& request) {
    if (request.model_file < 0) return nullptr; // of a plan file
    PlanRequest shorter = request;
    shorter.most_layers = few_layers;
    shorter.checks = false;
    Sources same = sources;
    Compilation begun;
    begun.decisions = all.decisions;
    run_passes(begun, passes_before("seed", shorter), shorter, same);
    if (begun.diagnostics.has_error() || begun.graph->nodes.size() * worth_it > all.graph->nodes.size()) return nullptr;
    Compilation planned = compile_rest(std::move(begun), shorter, same);
    if (!planned.plan) return nullptr;
    MemoryReport& memory = planned.plan->report.memory;
    memory.capacity = capacity_of(memory, all.plan->report.memory);
    return std::make_unique<FewLayers>(std::move(planned), same, shorter);
}

} // namespace shard
