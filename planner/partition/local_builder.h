// Adds nodes to the local graph: inputs in their shards, kernels, collectives, slices. Types, names and shardings
// follow.
//
// Names: the form of a value that is kept has the value's name; others have a suffix that says how they came about:
// z.partial, w.gathered, x.sliced, made unique with #2, #3, ...
#pragma once

#include "planner/graph/graph_edit.h"
#include "planner/partition/causes.h"
#include "planner/partition/halo.h"
#include "planner/partition/local.h"
#include "planner/redistribute/redistribute.h"

namespace shard {

class LocalBuilder {
public:
    LocalBuilder(Local& local, const Graph& graph, const Mesh& mesh);

    // An input or parameter; its initializer makes only the device's own block.
    ValueId input(ValueId global, const Sharding& kept);
    // `attributes`: of the device's part. `keeps`: the result is the form of the value that is kept, and takes its
    // name; otherwise the suffix.
    ValueId compute(const Node& node, NodeId origin, std::vector<ValueId> inputs, Attributes attributes,
                    Shared<Kernel> kernel, const Sharding& made, bool keeps);
    // The steps of a redistribution, for node `origin` of the global graph; -1: an input that is returned.
    // `gather_phase`: as Reshard's.
    ValueId reshard(ValueId from, ValueId global, const Redistribution& way, const Reason& reason, NodeId origin,
                    bool keeps, std::optional<Phase> gather_phase = {});
    // What the kernel of node `origin` reads in place of its operands, or beside them, where devices send each other what
    // crosses from block to block.
    std::vector<ValueId> exchange(const ComputeQuery& query, const IndexRule& rule, const ComputeSharding& choice,
                                  NodeId origin, std::vector<ValueId> inputs);
    // A collective that a manual region's body asks for (planner/graph/device_op.h), of an operand sharded like the
    // result over the mesh's other axes. `remedy`: what would do instead.
    ValueId across_devices(const Node& node, NodeId origin, ValueId input, const Sharding& made, bool keeps,
                           std::string remedy);

    // A form of the value that nothing makes yet.
    ValueId value(ValueId global, const Sharding& sharding, std::string_view suffix, bool keeps);
    // A value of one trip as the entry of a stack: with a dim of 1 in front.
    ValueId entry(ValueId from, ValueId global);
    // The innermost loop that what is added next stands in; -1: none.
    void set_loop(int loop) { loop_ = loop; }

private:
    void append(Node node, ValueId result);
    // What of an operand of node `origin` crosses from block to block, as it arrives.
    ValueId send(ValueId from, ValueId global, const Halo::Message& message, const Reason& reason, NodeId origin);
    ValueId show(Node node, ValueId from, ValueId result);
    ValueId add_seen(ValueId of, std::string_view suffix, const Shape& whole, const Sharding& sharding);
    ValueId place(ValueId from, ValueId global, const RedistributionStep& step, Node node);
    void note_full_gather(ValueId from, ValueId global, const Redistribution& way, NodeId origin);
    ValueId slice(ValueId from, ValueId global, std::span<const RedistributionStep> steps, Node node, LocalMove move,
                  bool keeps);

    Local* local_;
    const Graph* graph_;
    const Mesh* mesh_;
    FreshNames names_;
    int loop_ = -1;
};

// The kernel that keeps a device's own block of a local value when axes are added to dims. Global data does not move.
Move slice_kernel(const Shape& before, std::span<const AxisMove> slices);

} // namespace shard
