// A value with its dims in another order.
#pragma once

#include "importer/model/draft.h"

namespace shard {

// Dim i of the result is dim order[i] of the value. Of what is a transpose already, one transpose of what that takes; the
// value itself where dims stay as they are.
DraftId transposed(Draft& draft, DraftId value, std::vector<i64> order);

} // namespace shard
