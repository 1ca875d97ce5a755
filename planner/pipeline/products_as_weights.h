// Products that lie as their weights are split, where what meets a weight has the axes along a dim of its own, and
// where that makes a faster step.
//
//     n [data | model | -]    w [- | model]     tokens and the weight's columns are split over one axis
//     y [data | model | -]    propagation lets tokens keep it: w is gathered, and its gradient is summed over all
//     y [data | - | model]    as the weight: n is gathered, and each device makes its columns
//
// The latter sends less where tokens are fewer than what a weight has of rows. With the sums behind the next product
// scattered to the tokens again it is Megatron's tensor and sequence parallelism (Korthikanti et al. 2022,
// arXiv:2205.05198).
#pragma once

#include "planner/propagate/propagate.h"

#include <set>
#include <string>

namespace shard {

// A product whose weight is split over axes that its other operand uses along a dim that the weight does not have.
struct CrossedProduct {
    ValueId value = -1;  // what is made
    Sharding as_weight;  // what it would lie as, in the dims that would be split otherwise
    ValueId weight = -1; // as the product reads it
    std::string kind;    // the dim of the weight, and all of its dims, by logical axes: products of a kind go alike
};
// In the order of the graph. None: the layout says itself what comes first, or what meets weights is by far larger.
std::vector<CrossedProduct> crossed_products(const Graph& graph, const Seeds& seeds, const Propagation& propagation);

// The seeds, and those of the products of these kinds.
Seeds seed_products_as_weights(const Graph& graph, const Seeds& seeds, const std::vector<CrossedProduct>& crossed,
                               const std::set<std::string>& kinds);

} // namespace shard
