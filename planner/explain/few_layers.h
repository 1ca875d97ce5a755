// A model whose equal layers are written out, with few of them: planned in a fraction of the time, so that many changes
// can be tried on it, and on all layers those alone that do well there.
#pragma once

#include "planner/explain/trials.h"

#include <memory>

namespace shard {

struct FewLayers {
    FewLayers(Compilation plan, const Sources& sources, const PlanRequest& request)
        : planned(std::move(plan)), trials(planned, sources, request) {}

    Compilation planned; // its capacity is less than the device's as its peak is less than that of all layers
    Trials trials;
};

// nullptr: the model has not many layers, or says something that few do not have.
std::unique_ptr<FewLayers> with_few_layers(const Compilation& all, const Sources& sources, const PlanRequest& request);

} // namespace shard
