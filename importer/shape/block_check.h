// Whether entries that are alike are one block that is repeated.
#pragma once

#include "importer/model/draft_block.h"

#include <optional>

namespace shard {

// By value, the entries that read it, an entry as often as it does; results of the model count as read by entry -1.
using DraftReaders = std::vector<std::vector<int>>;
DraftReaders readers_of(const Draft& draft, const std::vector<bool>& needed, const std::vector<DraftId>& results);

// Of entries by repetition, whose n-th are alike (EntryKinds).
std::optional<DraftBlock> block_of(const Draft& draft, const DraftReaders& readers,
                                   std::vector<std::vector<int>> entries);

} // namespace shard
