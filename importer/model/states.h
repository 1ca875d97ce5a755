// What a step keeps for its optimizer: it is replaced, and no result but what replaces something needs it, as moments and
// traces. Optimizers begin with zeros there; what is drawn instead may be no state at all, as a negative mean of squares.
#pragma once

#include "importer/model/model_text.h"

namespace shard {

// By value: inputs of floating-point numbers. None of a step that returns nothing but what it replaces.
std::vector<bool> states_of(const Draft& draft, const std::vector<DraftId>& outputs, const DraftUpdates& updates);

} // namespace shard
