// Sentences that say why a collective is there and what would remove it. One sentence each, without a final stop.
#pragma once

#include "planner/graph/op_def.h"

namespace shard {

// Dim d of a value as a person calls it: its logical axis, or "dim 1".
std::string dim_words(const TensorType& type, size_t d);

// "z: the contraction over hidden is split over model, so each device holds a partial sum"
Reason partial_reason(const Mesh& mesh, const Graph& graph, const Node& node, const IndexRule& rule,
                      const Kernel& kernel, std::span<const std::vector<AxisRef>> factor_axes);
// "z: dot computes on w2 as [- | -], but w2 is kept as [model | -]"
Reason operand_reason(const Mesh& mesh, const Graph& graph, const Node& node, ValueId operand, const Sharding& kept,
                      const Sharding& needed);
// "z: dot makes it as [data | -], but it is kept as [- | data]"
Reason result_reason(const Mesh& mesh, const Graph& graph, const Node& node, ValueId result, const Sharding& made,
                     const Sharding& kept);
// "a#2: constrained to [data | -] at line 12, but a is [data | model]"
Reason constraint_reason(const Mesh& mesh, const Graph& graph, const Node& node, const Sharding& kept,
                         const Sharding& wanted);
// "w: fsdp (line 4) splits it over data, and the forward pass reads it whole"
Reason gather_reason(const Mesh& mesh, const Graph& graph, const Node& node, const Sharding& kept,
                     const Sharding& wanted);
// "x: the loop carries it as [data | -], but it is kept as [- | data]"
Reason loop_reason(const Mesh& mesh, const Value& value, const Sharding& kept, const Sharding& carried);
// "w: its update is made as [data | -], but w is stored as [- | -]"
Reason update_reason(const Mesh& mesh, const Value& input, const Sharding& made, const Sharding& stored);
// "z: returned as [- | data], but it is kept as [data | -]"
Reason output_reason(const Mesh& mesh, const Value& value, const Sharding& kept, const Sharding& wanted);

} // namespace shard
