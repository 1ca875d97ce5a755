// Repeated layers: finds them by what they compute, and makes blocks of them.
//
// Entries that are alike and stand at equal distances are a run (repeated_run.h). It is a block if every operand is the
// same in all repetitions, or made in the repetition, or in the one before, or a parameter that each repetition has for
// itself, or an entry of a stack that counts with the repetitions; and if nothing reads from its middle. What the
// first repetition makes for all of them, as a mask, goes before it. A run that is none is calls of a module, if they give
// and return few values beside the entries that they stand for (called_block.h). What updates arrays is calls at the end
// (update_calls.h).
#pragma once

#include "importer/model/draft_block.h"

namespace shard {

// The entries that `results` need, in order, those of blocks in blocks.
DraftOrder ordered(const Draft& draft, const std::vector<DraftId>& results);

} // namespace shard
