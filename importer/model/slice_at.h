// A window of a value, at a place of which each start may be known.
#pragma once

#include "importer/model/draft.h"

namespace shard {

// `sizes`, and where it begins, by dim of the value; a window that would reach beyond it is moved into it. The value
// itself, a slice or a dynamic_slice.
DraftId slice_at(Draft& draft, DraftId value, const Shape& sizes, const std::vector<DraftId>& starts);

} // namespace shard
