// Parameters that others are multiplied by, element by element: the scale of a norm. A model without values for them
// begins with ones; with zeros, as other vectors begin, nothing that comes after them would show in its results.
#pragma once

#include "importer/model/draft.h"

namespace shard {

// By value: floating-point numbers and vectors that some op scales by.
std::vector<bool> scales_of(const Draft& draft);

} // namespace shard
