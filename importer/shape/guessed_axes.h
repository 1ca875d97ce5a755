// Logical names of the dims of arguments, so that rules of a layout apply: batch, length, vocab, embed, heads, kv_heads,
// kv, mlp, qkv.
//
// Dims that an op takes for one are a class (dim_classes.h). Classes are named by their use: along the table of a lookup
// runs vocab, along its rows embed; along tokens batch and length; a parameter of three dims, of which one is embed, has
// heads and kv; of two, embed and mlp, or qkv if it is as long as embed. A program that looks nothing up in a parameter
// has no names.
#pragma once

#include "importer/model/axis_names.h"

namespace shard {

AxisNames guessed_axes(const Draft& draft, const std::vector<DraftId>& results, const NamesByArray& given = {});

} // namespace shard
