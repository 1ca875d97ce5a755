// Gradients that lie as states do. A state that has the shape of a gradient and is split further than the parameter needs
// its part of the sum alone: the sum is scattered, which is the first stage of ZeRO (Rajbhandari et al. 2020,
// arXiv:1910.02054), and no device ever has the whole.
#pragma once

#include "planner/seed/seed.h"

#include <map>

namespace shard {

// By gradient, such a state, if all states of its shape are split alike. None of a gradient that is added up over
// microbatches: whole sums are added there, and the last is scattered. `seeds`: of parameters and states.
std::map<ValueId, ValueId> split_states(const Graph& graph, const Seeds& seeds);

} // namespace shard
