// What a step makes of one array after another, element by element, as an optimizer does of the gradient, the moments
// and the parameter: calls of one module, whatever shapes the arrays have.
//
//     mul: {mul: [0.9, mu_w]}, mul_2: {mul: [0.1, g_w]}, mu_w_new: {add: [mul, mul_2]}      and the same of b, of v, ...
//
// An array's update is what only results of the program need, from the last entries that do not go element by element on.
// It reads an input of the program. The program has the same of all arrays one after the other, before the next of the
// first; here all of the first comes before that of the second.
#pragma once

#include "importer/model/draft_block.h"
#include "importer/shape/repetitions.h"

namespace shard {

// Of `entries`, in the order of the draft; nothing else needs what they make.
std::vector<DraftBlock> update_calls(const Draft& draft, const DraftReaders& readers, const std::vector<int>& entries);

} // namespace shard
