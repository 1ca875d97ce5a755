// Attributes that slice and pad write per dim: one entry for every dim, or, with `dim`, one for each dim named there.
//
//     {slice: x, start: [0, 2], limit: [8, 6]}     {slice: x, dim: 1, start: 2, limit: 6}
#pragma once

#include "planner/graph/op_def.h"

namespace shard {

// The attribute for every dim; `fallback` for dims that are not named, or if the attribute is absent.
std::vector<i64> per_dim(const Attributes& attributes, std::string_view name, const std::vector<i64>& fallback);
// E0226 unless the named attributes have as many entries as there are dims (or dims in `dim`).
bool check_per_dim(const InferContext& context, std::initializer_list<std::string_view> names);
// Every dim shares a factor with the result: pass-through where `whole`, else a permutation of the operand's size.
IndexRule windowed_rule(const TensorType& operand, const std::vector<bool>& whole);

} // namespace shard
