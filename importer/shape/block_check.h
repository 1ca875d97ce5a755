// Whether entries that are alike are one block that is repeated.
#pragma once

#include "importer/model/draft_block.h"
#include "importer/shape/repetitions.h"

#include <optional>

namespace shard {

DraftReaders readers_of(const Draft& draft, const std::vector<bool>& needed, const std::vector<DraftId>& results);

// Of entries by repetition, whose n-th are alike (EntryKinds).
std::optional<DraftBlock> block_of(const Draft& draft, const DraftReaders& readers,
                                   std::vector<std::vector<int>> entries);

} // namespace shard
