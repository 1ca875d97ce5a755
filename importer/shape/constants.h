// What is computed of constants alone, as a causal mask: layers make it each for itself, and it is the same.
#pragma once

#include "importer/model/draft.h"

namespace shard {

// By entry, whether it needs no argument of the program.
std::vector<bool> constant_entries(const Draft& draft);
// Those that are equal are one: what reads the others reads the first.
void share_constants(Draft& draft);

} // namespace shard
