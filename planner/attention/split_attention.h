// Attention whose keys are split over devices along the sequence, its queries over the same ones or none, and the ops of
// its gradient that stand in the same loop. They go one way together (planner/model/sequence_way.h).
#pragma once

#include "planner/graph/op_def.h"
#include "planner/model/sequence_way.h"
#include "planner/propagate/propagate.h"

#include <array>

namespace shard {

inline constexpr size_t attend_parts = 7; // of AttendPart

struct SplitAttention {
    std::vector<AxisRef> axes;  // over which the sequence of the keys is split
    bool splits_queries = true; // and that of the queries; else all devices have them (a step of decoding)
    std::vector<AxisRef> batch, heads, kv_heads; // what else splits q and k
    std::array<NodeId, attend_parts> nodes;      // by AttendPart; -1: there is none
    std::array<std::vector<ValueId>, attend_parts> operands;
    std::array<ValueId, attend_parts> outputs;
    Attributes attributes; // of the op's parts but the logsumexp also which weights are dropped
    ValueId q = -1, k = -1;
    // Operands that are behind those of the part, -1: not there.
    ValueId bias = -1, mask = -1, query_segments = -1, key_segments = -1, start = -1;
    std::vector<ValueId> drop; // scalars by which weights are dropped: a count of steps, or the words of a key
    bool is_part = false;      // of the weights that are drawn, from places that operands say

    bool has(AttendPart part) const { return nodes[static_cast<size_t>(part)] >= 0; }
    const std::vector<ValueId>& of(AttendPart part) const { return operands[static_cast<size_t>(part)]; }
    bool drops() const { return attributes.has("dropout"); }
    bool is_causal() const { return attributes.flag("causal", false); }
    i64 devices() const { return total_size(axes); }
    std::vector<AxisRef> query_axes() const { return splits_queries ? axes : std::vector<AxisRef>(); }
};

// In the order of their first ops.
std::vector<SplitAttention> split_attentions(const Graph& graph, const Mesh& mesh, const Shardings& shardings);

// Why this attention cannot go this way: "" if it can.
std::string way_problem(const Graph& graph, const SplitAttention& attention, SequenceWay way);

// How operands and results lie where the sequence is split, by what they are like: q, k, a number for every query.
Sharding sharding_of_queries(const SplitAttention& attention);
Sharding sharding_of_keys(const SplitAttention& attention);
Sharding sharding_of_rows(const SplitAttention& attention);

} // namespace shard
