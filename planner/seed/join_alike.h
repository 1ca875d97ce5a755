// A rule that splits a dim into parts that do not divide it says so of every array that has the dim: of many layers
// that is one mistake, not sixty.
#pragma once

#include "plans/diagnostics/diagnostic.h"

namespace shard {

// Errors E0313 of one place that differ only in the array are one: that of the first array, with the names of the
// others in a note and their places as labels. So are E0314 of one logical axis.
Diagnostics join_alike(const Diagnostics& found);

} // namespace shard
