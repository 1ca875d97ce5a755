// Which dims of a graph are padded, and how far: those that a seed splits over axes that do not divide them, and with them
// every dim that an op, a loop or an update says is the same one. So a padded value goes through most ops as it is.
//
//     x (batch 6, embed 4)  [data | -] on data 4;  h = x w (4, 8)  (batch 6, hidden 8)
//     batch is one dim of x and h: it has 8 elements in both
#pragma once

#include "planner/graph/op_def.h"
#include "planner/seed/seed.h"

namespace shard {

// What changes nothing where it is reduced by `op`; nullopt if a double or the type does not hold it.
std::optional<double> neutral_element(ReduceOp op, DType dtype);

// An op as it is without padding.
struct UnpaddedOp {
    UnpaddedOp(const Node& node, std::vector<TensorType> operands, std::vector<TensorType> results);

    // Whether padding may stand behind the elements of all dims of a factor: each is this factor alone, what the op makes of
    // an element does not depend on how long the dim is, and where it reduces there is a neutral element.
    bool takes_padding(int factor) const;
    bool takes_padding(const DimFactors& factors) const { return factors.size() == 1 && takes_padding(factors[0]); }

    std::vector<TensorType> operands, results;
    IndexRule rule;
    std::optional<Kernel> kernel; // on whole values
};

class PaddedDims {
public:
    PaddedDims(const Graph& graph, const Seeds& seeds);
    bool any() const { return any_; }
    // With padding, or as it is.
    i64 size(ValueId value, size_t dim) const { return sizes_[first_[static_cast<size_t>(value)] + dim]; }

private:
    void join(ValueId a, size_t dim_a, ValueId b, size_t dim_b);
    void join_all(ValueId a, ValueId b);
    void join_node(const Graph& graph, const Node& node);
    void join_loop(const Graph& graph, const GraphLoop& loop);
    size_t root(size_t at);

    const Graph* graph_;
    std::vector<size_t> first_;  // by value: where its dims begin in the lists that follow
    std::vector<size_t> parent_; // of dims that are one
    std::vector<i64> sizes_;
    bool any_ = false;
};

} // namespace shard
