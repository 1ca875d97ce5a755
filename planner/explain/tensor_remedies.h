// What would make the collectives of tensors go or cost less: changes of planner/explain/changes.h, each planned again.
#pragma once

#include "planner/explain/explanation.h"

namespace shard {

// To each explanation whose tensor has collectives the best few changes that help it. Of a large model no more are planned
// than take a moment: those at places that the explanation names first, and of a model with many layers those that help
// one with few. Sources and request are those that the compilation was made of.
void add_remedies(std::span<Explanation> explanations, const Compilation& compilation, const Sources& sources,
                  const PlanRequest& request);

} // namespace shard
