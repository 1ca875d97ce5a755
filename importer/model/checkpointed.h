// Layers that a program has in a jax.checkpoint.
#pragma once

#include "importer/model/draft_block.h"

#include <set>
#include <string>

namespace shard {

// `lines`: of the traced program, what is in a jax.checkpoint (importer/mlir/mlir_places.h). Whether all of the block is
// there that a backward pass reads something of: it computes nothing again of a sum, or of what is only moved.
bool is_checkpointed(const Draft& draft, const DraftBlock& block, const std::set<std::string>& lines);

} // namespace shard
