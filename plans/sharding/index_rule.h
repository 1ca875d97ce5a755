// An op's index rule: how the dims of its operands and results share factors (as in Shardy's op sharding rules).
//
//     dot (8,32)(32,16):  "ik,kj->ij" {i=8, k=32, j=16}, k a reduction factor
//     reshape (8,4)->(2,16):  "(ij)k->i(jk)" {i=2, j=4, k=4}
#pragma once

#include "plans/sharding/sharding.h"

namespace shard {

enum class FactorKind {
    pass_through,     // each device computes its own part of the result
    reduction,        // in no result: devices hold terms of it
    need_replication, // a device needs the whole dim: whatever splits it is gathered
    permutation       // elements change places along the dim: split, devices send each other what crosses blocks
};
std::string_view name(FactorKind kind);

struct Factor {
    char letter = 'i'; // for printing only
    FactorKind kind = FactorKind::pass_through;
    i64 size = 1;
    bool blocked = false; // axes are never propagated along it
    bool operator==(const Factor&) const = default;
};

using DimFactors = std::vector<int>;           // factors of one dim, major to minor
using TensorFactors = std::vector<DimFactors>; // one entry per dim

// Every dim has at least one factor; the sizes of a dim's factors multiply to the dim (permutation factors excepted:
// slice and pad share one factor between dims of different sizes, its size the operand's; so does a convolution, also
// with a reduction where the dims of its operands differ). A reduction factor is in no result.
struct IndexRule {
    std::vector<Factor> factors;
    std::vector<TensorFactors> operands;
    std::vector<TensorFactors> results;
    ReduceOp reduce = ReduceOp::sum; // how results combine over axes of reduction factors
    bool operator==(const IndexRule&) const = default;
};

// Builds a rule from index notation: one letter a dim, "(ij)" for a dim of several factors, "" for a scalar, "." is a
// dim that relates to nothing. Sizes come from the shapes; letters that are in operands only are reductions. Kinds are
// changed afterwards through `kind`. Internal error if sizes disagree (except for size-1 dims: those get a private
// factor, so broadcasting works).
IndexRule make_rule(std::string_view notation, std::span<const TensorType> operands,
                    std::span<const TensorType> results);
void set_kind(IndexRule& rule, char letter, FactorKind kind, bool blocked = false);

// All operands and results share one factor per dim, aligned at the last dim as in numpy; size-1 dims stay private.
IndexRule pointwise_rule(std::span<const TensorType> operands, std::span<const TensorType> results);

std::string text(const IndexRule& rule); // "([i, k],[k, j])->([i, j]) {i=8, k=32, j=16} reduction={k}"

} // namespace shard
