// A redistribution as the greedy algorithm of Shardy's export passes finds it (export/reshard_to_collectives.cc), from
// a description of it alone: slices, then a permutation, then all-to-alls, then a gather. It sees ways through many
// small parts of axes that the search would be long to find, so it bounds the search from above.
#pragma once

#include "plans/sharding/sharding.h"

namespace shard {

enum class GreedyKind { slice, permute, all_to_all, all_gather };

struct GreedyStep {
    GreedyKind kind;
    Sharding after;
    double elements; // that each device sends, as reference costs count: a slice 0, a permutation its block
};

// `from` and `to` are closed, without partial axes, and divide the shape.
std::vector<GreedyStep> greedy_reshard(const Shape& shape, const Sharding& from, const Sharding& to);
double elements_sent(const std::vector<GreedyStep>& steps); // by each device, in all steps

} // namespace shard
