// What is added to attention's scores, or hides them: inputs behind those of the part, each of which may be left out, and
// which are known by their types.
//
//     bias            floating-point (batch, heads, queries, keys): added to the scores, after a soft cap
//     mask            bool, likewise: the query sees the key where it is true
//     query_segments  integers (batch, queries), and
//     key_segments    integers (batch, keys): the query sees the keys of its own segment
//
// A dim of a bias or mask is 1 where all are alike. A query that sees no key has values 0, also where queries begin at
// a number that is not known before.
#pragma once

#include "plans/kernel/attend.h"

namespace shard {

struct AttendPairs {
    int bias = -1, mask = -1, query_segments = -1, key_segments = -1;
    int count = 0; // of all inputs, those of the part too
    bool any() const { return bias >= 0 || mask >= 0 || query_segments >= 0; }
};
AttendPairs attend_pairs(AttendPart part, std::span<const TensorType> inputs);
// Whether there may be queries that see no key.
bool may_hide_all(const Attend& attend, const AttendPairs& pairs);
// "" if they fit inputs of these sizes, else what does not.
std::string attend_pairs_problem(const AttendPairs& pairs, const AttendSizes& sizes,
                                 std::span<const TensorType> inputs);

} // namespace shard
