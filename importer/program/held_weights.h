// Weights that a program closes over, jax.jit(lambda x: model(x)), stand in it as constants, which no rule can split.
#pragma once

#include "importer/model/draft.h"

namespace shard {

// W0808 at `place`, if tables (Draft::is_table) are multiplied in what these results need.
void report_held_weights(const Draft& draft, const std::vector<DraftId>& results, Span place, Diagnostics& diagnostics);

} // namespace shard
