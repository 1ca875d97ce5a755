// What a module's `remat: {save: [...], offload: [...]}` says by name of the values of a call.
#pragma once

#include "planner/graph/graph.h"
#include "planner/model/model.h"

#include <set>
#include <span>

namespace shard {

// A call whose graph is built: its path, its operands, and what was there before it.
struct BuiltCall {
    const ModuleDecl& module;
    const std::string& instance;
    std::span<const ValueId> operands;
    size_t values_before = 0, aliases_before = 0;
};

// Sets Value::kept of what the patterns mean: values of the call and of the modules that it calls, by their paths seen
// from it, and its inputs; the last that matches wins. E0248 of one that means nothing, once for all calls (`said`).
bool keep_named(Graph& graph, const BuiltCall& call, std::set<const Name*>& said, Diagnostics& diagnostics);

} // namespace shard
