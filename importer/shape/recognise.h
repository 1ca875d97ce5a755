// Recognises composites, and puts one entry in place of what computes each. Only those that compute the same, up to the
// order in which factors are multiplied; and only where nothing else reads what is in between, as a backward pass does.
#pragma once

#include "importer/model/draft.h"

namespace shard {

void recognise_composites(Draft& draft, const std::vector<DraftId>& results);

} // namespace shard
