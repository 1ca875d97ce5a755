// Logical names of the dims of arguments, so that rules of a layout apply: batch, length, vocab, embed, heads, kv_heads,
// kv, mlp, qkv.
//
// Dims that an op takes for one are a class (dim_classes.h). Classes are named by their use: along the table of a lookup
// runs vocab, along its rows embed; along tokens batch and length; a parameter of three dims, of which one is embed, has
// heads and kv; of two, embed and mlp, or qkv if it is as long as embed. Where nothing is looked up in a parameter, inputs
// begin with a batch, and embed is what something computed of it is added to, or what the first input ends with. Without
// parameters, and without words in a program that has shardings of its own, where names without a rule would be whole
// and dims without a name go by what is around them, there are no names.
#pragma once

#include "importer/model/axis_names.h"

namespace shard {

// `results`: what the program returns, without what arguments hold next, which are `next`.
AxisNames guessed_axes(const Draft& draft, const std::vector<DraftId>& results, const std::vector<DraftId>& next,
                       const NamesByArray& given, bool is_sharded);

} // namespace shard
