// The propagate pass: seeds -> a sharding for every value (reference/propagation.md). What is left open is closed at the end,
// and axes that do not divide their dim are trimmed.
#pragma once

#include "planner/seed.h"

namespace shard {

using Shardings = std::vector<Sharding>; // by ValueId

struct PropagateOptions {
    enum class Strategy { basic, aggressive };
    Strategy strategy = Strategy::aggressive;
    bool op_priorities = true;
};

struct Propagation {
    Shardings values; // closed, dividing
    DecisionLog log;  // seeds' decisions followed by propagation's
};

Propagation propagate(const Graph& graph, const Mesh& mesh, const Seeds& seeds, const PropagateOptions& options = {});

} // namespace shard
