// The propagate pass: seeds -> a sharding for every value (docs/propagation.md). What is left open is closed at
// the end, and axes that do not divide their dim are trimmed.
#pragma once

#include "planner/seed/seed.h"

namespace shard {

using Shardings = std::vector<Sharding>; // by ValueId

// As Shardy's: of axes that several neighbours offer a factor, basic takes what all agree on, aggressive the most that
// fits. With op_priorities ops spread in the order of op_priority.h, else all at once.
struct PropagateOptions {
    enum class Strategy { basic, aggressive };
    Strategy strategy = Strategy::aggressive;
    // Axes spread through an op that stands for several products (attention) as through those: what its first operand, the
    // queries, is split over spreads along no dim of the others.
    bool products_apart = false;
    bool op_priorities = true;
};

// What propagation reached before anything is closed or trimmed: open dims show where it could have gone on.
struct Fixpoint {
    Shardings values;
    std::vector<std::optional<Sharding>> outputs; // by output index; nullopt where the layout asks for nothing
    DecisionLog log;                              // seeds' decisions followed by propagation's
};
// For tests and explain; a plan needs what `propagate` makes of it.
Fixpoint propagate_to_fixpoint(const Graph& graph, const Seeds& seeds, const PropagateOptions& options = {});

// Closed shardings that divide.
struct Propagation {
    Shardings values;
    Shardings outputs; // by output: as it is returned, another sharding than the value's where the layout asks for one
    DecisionLog log;
};

// The pass: the fixpoint, closed and trimmed.
Propagation propagate(const Graph& graph, const Mesh& mesh, const Seeds& seeds, const PropagateOptions& options = {});

// Drops, from the first axis of a dim that does not divide what is left of it, that axis and those after it.
void trim_to_divide(const Shape& shape, Sharding& sharding);

} // namespace shard
