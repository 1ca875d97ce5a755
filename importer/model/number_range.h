// Between which whole numbers every element of a draft's value lies, as far as the ops that make it say: what jnp
// indexes by is moved up by the dim's size where it is negative, and positions that a program counts never are.
#pragma once

#include "importer/model/draft.h"

namespace shard {

struct NumberRange {
    i64 least = 0, most = 0; // both within
};

// Of whole numbers; nullopt of floating-point numbers and of truths. What a loop hands on has the range of its type.
std::optional<NumberRange> range_of(const Draft& draft, DraftId value);

// Of lt, le, gt, ge, eq and ne, what every element of the comparison is; nullopt where it may be either.
std::optional<bool> known_comparison(const Draft& draft, std::string_view op, DraftId a, DraftId b);

} // namespace shard
