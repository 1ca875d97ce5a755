// Whether entries that are alike are calls of one module, each with what it alone is given and makes.
#pragma once

#include "importer/shape/block_check.h"

namespace shard {

// Whether the n-th values of repetitions have one shape. A module of any shapes has no parameters: these have one.
enum class DraftShapes { one, any };

// Of entries by repetition, whose n-th are alike (EntryKinds, but perhaps for the shapes), in the order of the draft. What
// repetitions read is one for all, a parameter of each, or given to each; numbers are given if they are of f32, as a
// literal is.
std::optional<DraftBlock> called_block_of(const Draft& draft, const DraftReaders& readers,
                                          std::vector<std::vector<int>> entries, DraftShapes shapes = DraftShapes::one);

} // namespace shard
