// Sentences that say why a collective is there. One each, without a final stop; "it" is the value that it is for. What
// would remove it is found by planning again (planner/explain/remedies.h): only what is written by hand is judged here.
#pragma once

#include "planner/partition/compute_sharding.h"

#include <map>

namespace shard {

// Dim d of a value as a person calls it: its logical axis, or "dim 1".
std::string dim_words(const TensorType& type, size_t d);

// "the contraction over hidden is split over model, so each device holds a partial sum"
Reason partial_reason(const Mesh& mesh, const Graph& graph, const Node& node, const IndexRule& rule,
                      const Kernel& kernel, std::span<const std::vector<AxisRef>> factor_axes);
// "w2 is split over data along hidden, but dot reads it whole, since data splits batch", or "..., since combining partial
// results over data would cost more"; the last with a `place`: how the op is computed, and which operand it is.
struct OperandPlace {
    const ComputeSharding& choice;
    const IndexRule& rule;
    size_t operand = 0;
    bool priced = true;                                 // ways are chosen by price, not as XLA's partitioner goes
    std::map<std::vector<AxisRef>, std::string>* since; // of the node, what was found before
};
Reason operand_reason(const Mesh& mesh, const Graph& graph, const Node& node, ValueId operand, const Sharding& kept,
                      const Sharding& needed, const OperandPlace* place = nullptr);
// "elements of x move along n, which is split over data, so devices send what crosses from block to block"
Reason halo_reason(const Mesh& mesh, const Graph& graph, ValueId operand, const Sharding& made, size_t dim);
// "windows of conv reach from block to block of x along height, which is split over data"
Reason overlap_reason(const Mesh& mesh, const Graph& graph, const Node& node, ValueId operand, size_t dim,
                      std::span<const AxisRef> axes);
// "dot makes it split over data along batch, but it is kept split over data along embed"
Reason result_reason(const Mesh& mesh, const Graph& graph, const Node& node, ValueId result, const Sharding& made,
                     const Sharding& kept);
// Of a value that is kept otherwise than it is made: because a constraint reads it, or because propagation found it
// best. It stands at the line of the constraint, if there is one, else at that of the node that makes the value.
struct KeptReason {
    Reason why;
    NodeId at;
};
KeptReason kept_reason(const Mesh& mesh, const Graph& graph, std::span<const NodeId> readers,
                       std::span<const Sharding> kept, NodeId node, const Sharding& made);
// "a constraint asks for it whole along hidden, but a is split over model along hidden"
Reason constraint_reason(const Mesh& mesh, const Graph& graph, const Node& node, const Sharding& kept,
                         const Sharding& wanted);
// "fsdp splits it over data, and the forward pass reads it whole"
Reason gather_reason(const Mesh& mesh, const Node& node, const Sharding& kept, const Sharding& wanted);
// "the loop carries it split over data along batch, but it is kept whole"
Reason loop_reason(const Mesh& mesh, const Value& value, const Sharding& kept, const Sharding& carried);
// "its new value is made split over data along embed, but it is stored whole"
Reason update_reason(const Mesh& mesh, const Value& input, const Sharding& made, const Sharding& stored);
// "it is returned split over data along embed, but kept split over data along batch"
Reason output_reason(const Mesh& mesh, const Value& value, const Sharding& kept, const Sharding& wanted);

} // namespace shard
