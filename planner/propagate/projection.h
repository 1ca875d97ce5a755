// The projection of one op's shardings onto the factors of its rule, and back. Propagation works on factors only: the
// axes of a factor are comparable between all tensors that have it, however their dims are made up of factors.
//
// Example: mesh {a:4}, reshape (8)->(2,4) with rule "(ij)->ij" {i=2, j=4}, operand [a]:
//     project:    operand  i: a:(1)2    j: a:(2)2       result  i: (none)  j: (none)
//     propagate:  result   i: a:(1)2    j: a:(2)2
//     back:       result   [a:(1)2 | a:(2)2]
#pragma once

#include "plans/sharding/index_rule.h"

namespace shard {

// How one tensor splits one factor.
struct FactorSharding {
    int factor = -1;
    std::vector<AxisRef> axes; // major to minor
    // Axes of the dim that come after this factor's but cannot split the rest of it evenly; later factors of the dim
    // are empty and closed. They never propagate and only keep their place in the dim.
    std::vector<AxisRef> overflow;
    bool closed = false;
    bool minor_most = false; // in its dim: may hold axes that do not divide it
    bool operator==(const FactorSharding&) const = default;
};

// The factors of one tensor, dim by dim, major to minor; a factor once. Replicated and partial axes are of no dim: they
// only forbid.
struct TensorProjection {
    std::vector<FactorSharding> factors;
    std::vector<AxisRef> replicated, partial;

    const FactorSharding* find(int factor) const; // nullptr if this tensor does not have it
    FactorSharding* find(int factor);
    bool operator==(const TensorProjection&) const = default;
};

// All tensors of one op.
struct Projection {
    std::vector<TensorProjection> operands, results;

    size_t count() const { return operands.size() + results.size(); }
    // Operands first, then results.
    const TensorProjection& tensor(size_t index) const {
        return index < operands.size() ? operands[index] : results[index - operands.size()];
    }
    TensorProjection& tensor(size_t index) {
        return index < operands.size() ? operands[index] : results[index - operands.size()];
    }
    bool operator==(const Projection&) const = default;
};

// Of one tensor, whose dims are made of the rule's factors as `dims` says; and of all.
TensorProjection project(const IndexRule& rule, const TensorFactors& dims, const Sharding& sharding);
Projection project(const IndexRule& rule, std::span<const Sharding> operands, std::span<const Sharding> results);

// The sharding that a projection stands for. A dim stops after a factor with overflow or one that is not fully sharded:
// a minor factor's axes alone would be a strided view, which a sharding cannot say.
Sharding unproject(const IndexRule& rule, const TensorFactors& dims, const TensorProjection& projection,
                   ReduceOp reduce);

} // namespace shard
