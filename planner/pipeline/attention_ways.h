// Which way attention goes whose sequence is split over devices (planner/model/sequence_way.h): as the layout says, or as
// makes the step that costs least. Attentions that are alike go alike.
#pragma once

#include "planner/attention/split_attention.h"
#include "planner/pipeline/joint_partition.h"

namespace shard {

// Attentions of one kind: what they are, and the ways that they could go.
struct AttentionWays {
    struct Way {
        SequenceWay way = SequenceWay::gather;
        std::string problem; // why it cannot be gone; the rest is then empty
        double seconds = 0;  // of the step, with all else as it is planned
        i64 wire_bytes = 0, peak_bytes = 0;
    };
    std::vector<ValueId> results; // of the ops, in the graph as it is after the pass
    SequenceWay way = SequenceWay::gather;
    bool is_asked_for = false; // by the layout
};

struct PropagatedGraph {
    Graph graph;
    Seeds seeds;
    Propagation propagation;
};

// The pass: rewrites the graph, and propagates once more, if any goes another way than the partitioner's own.
std::vector<AttentionWays> choose_attention_ways(PropagatedGraph& graph, const Layout& layout,
                                                 ComputeDecisions& decisions, Diagnostics& diagnostics);

// For explain: all ways of kind `n`, of a graph as it was before the pass.
std::vector<AttentionWays::Way> price_attention_ways(const PropagatedGraph& before, const Layout& layout,
                                                     ComputeDecisions& decisions, size_t n);

} // namespace shard
