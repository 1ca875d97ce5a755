// Rewrites of the local graph that keep its meaning: the same reshard made twice becomes one, an all_reduce that is
// only sliced becomes a reduce_scatter, pointwise kernels take in what makes their operands, and what nobody reads
// goes.
#include "planner/optimize/optimize.h"

#include "planner/graph/graph_edit.h"
#include "planner/graph/op_def.h"
#include "planner/graph/users.h"
#include "planner/optimize/fuse_pointwise.h"
#include "planner/partition/local.h"
#include "planner/partition/partition.h"

#include "planner/graph/verify_loops.h"
#include "plans/sharding/axis_lists.h"

#include <algorithm>

namespace shard {

namespace {

// The same collective, or slices of the same blocks; a gather for another pass of the train step is meant to be
// another.
bool is_same_reshard(const Node& a, const Node& b) {
    if (a.does.index() != b.does.index() || a.reshard()->gather_phase != b.reshard()->gather_phase) return false;
    return a.collective() != nullptr ? *a.collective() == *b.collective() : *a.kernel() == *b.kernel();
}

// Also of the forms that values have.
void replace_forms(Local& local, std::span<const ValueId> stands_for) {
    for (ValueId& id : local.value_of)
        if (id >= 0) id = stands_for[id];
}

std::vector<bool> marked(size_t count, const std::vector<ValueId>& ids) {
    std::vector<bool> marks(count);
    for (ValueId id : ids)
        if (id >= 0) marks[id] = true;
    return marks;
}

// Reshards of one value by the same collective, or by slices of the same blocks, give the same value.
void merge_equal_reshards(Local& local) {
    Graph& graph = local.graph;
    std::vector<ValueId> stands_for(graph.values.size());
    for (size_t i = 0; i < stands_for.size(); ++i) stands_for[i] = static_cast<ValueId>(i);
    std::vector<std::vector<NodeId>> reshards_of(graph.values.size()); // by input
    std::vector<bool> kept = marked(graph.values.size(), local.value_of);
    for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
        Node& node = graph.nodes[id];
        if (node.reshard() == nullptr) continue;
        ValueId input = stands_for[node.inputs[0]];
        std::vector<NodeId>& others = reshards_of[input];
        std::vector<NodeId>::iterator same = std::find_if(others.begin(), others.end(), [&](NodeId other) {
            return is_same_reshard(graph.node(other), node) && is_within(graph, node.loop, graph.node(other).loop);
        });
        if (same == others.end()) {
            others.push_back(id);
            continue;
        }
        ValueId gone = node.outputs[0], stays = graph.node(*same).outputs[0];
        stands_for[gone] = stays;
        // The name of a kept form is worth keeping.
        if (!kept[gone] || kept[stays]) continue;
        std::swap(graph.value(stays).name, graph.value(gone).name);
        kept[stays] = true;
    }
    replace_uses(graph, stands_for);
    replace_forms(local, stands_for);
}

// The axes a slice adds to each dim, if the node is one.
std::vector<AxisMove> slices_of(const Graph& graph, const Node& node) {
    std::vector<AxisMove> slices;
    if (!std::holds_alternative<Shared<LocalMove>>(node.does)) return slices;
    const Sharding &before = graph.value(node.inputs[0]).part->sharding,
                   &after = graph.value(node.outputs[0]).part->sharding;
    for (size_t d = 0; d < before.dims.size(); ++d) {
        std::vector<AxisRef> added = without(after.dims[d].axes, before.dims[d].axes);
        if (!added.empty()) slices.push_back({-1, static_cast<int>(d), added});
    }
    return slices;
}

// An all_reduce whose only reader slices its result over axes that begin with all the reduced ones is a reduce_scatter,
// followed by a slice over the rest if there is one: then it stays as it is.
void scatter_sliced_reductions(Local& local) {
    Graph& graph = local.graph;
    const Users users(graph);
    const std::vector<bool> is_output = marked(graph.values.size(), graph.outputs);
    std::vector<bool> gone(graph.values.size());
    for (Node& node : graph.nodes) {
        if (!node.collective() || node.collective()->def->uses != CollectiveDef::Uses{.reduce = true}) continue;
        ValueId reduced = node.outputs[0];
        const std::span<const NodeId> readers = users[reduced];
        if (is_output[reduced] || readers.size() != 1) continue;
        Node& slice = graph.nodes[readers[0]];
        if (slice.loop != node.loop) continue;
        std::vector<AxisMove> slices = slices_of(graph, slice);
        std::vector<AxisRef> sliced;
        for (const AxisMove& move : slices) sliced.insert(sliced.end(), move.axes.begin(), move.axes.end());
        bool all = !sliced.empty() &&
                   without(cut(node.collective()->axes, sliced), cut(sliced, node.collective()->axes)).empty() &&
                   total_size(sliced) == total_size(node.collective()->axes);
        if (!all) continue;
        Exchange scatter;
        scatter.reason = node.reshard()->reason;
        scatter.gather_phase = slice.reshard()->gather_phase;
        scatter.collective = {
            collective_with({.reduce = true, .to = true}), sliced, node.collective()->reduce, slices, {}, {}, 0};
        slice.does = std::move(scatter);
        slice.inputs = node.inputs;
        gone[reduced] = true;
    }
    for (ValueId& id : local.value_of)
        if (id >= 0 && gone[id]) id = -1;
}

// Drops nodes that no output needs, and what they make. Inputs stay.
void remove_unread(Local& local) {
    const Graph& graph = local.graph;
    std::vector<bool> needed = marked(graph.values.size(), graph.outputs);
    std::vector<bool> kept_loops(graph.loops.size());
    std::vector<NodeId> kept;
    for (NodeId n = static_cast<NodeId>(graph.nodes.size()); n-- > 0;) {
        const Node& node = graph.node(n);
        bool keep = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) { return needed[id]; });
        if (node.closes() >= 0) kept_loops[node.closes()] = keep;
        if (node.opens() >= 0) keep = kept_loops[node.opens()];
        if (!keep) continue;
        for (ValueId id : node.inputs) needed[id] = true;
        kept.push_back(n);
    }
    std::reverse(kept.begin(), kept.end());
    replace_forms(local, keep_nodes(local.graph, kept).values);
}

} // namespace

void simplify_reshards(Local& local) {
    merge_equal_reshards(local);
    scatter_sliced_reductions(local);
    remove_unread(local); // so that only real readers count
}

void optimize(Local& local) {
    simplify_reshards(local);
    fuse_pointwise(local);
    remove_unread(local);
}

} // namespace shard
