// Manual regions of a draft, whose bodies are drafts of their own: what nobody reads does not leave them, and in them
// composites and blocks are found as in the program.
#pragma once

#include "importer/model/draft.h"

namespace shard {

// Whether there are any that `results` need.
bool shape_regions(Draft& draft, const std::vector<DraftId>& results);

} // namespace shard
