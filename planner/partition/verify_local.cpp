// What holds of the local graph after partition and after optimize.
#include "planner/partition/verify_local.h"

#include "planner/graph/op_def.h"
#include "planner/graph/verify_loops.h"
#include "planner/partition/local.h"
#include "planner/partition/partition.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

void check(bool condition, const Value& value, std::string_view rule) {
    if (!condition) internal_error(fmt::format("local value {}: {}", value.name, rule));
}

void check_collective(const Graph& graph, const Node& node) {
    const Value &before = graph.value(node.inputs[0]), &after = graph.value(node.outputs[0]);
    check(same_layout(sharding_after(*node.collective(), before.part->sharding), after.part->sharding), after,
          "its sharding follows from the collective");
    check(node.collective()->def->after(*node.collective(), before.type).shape == after.type.shape, after,
          "its shape follows from the collective");
    check(before.type.dtype == after.type.dtype, after, "a collective keeps the dtype");
}

} // namespace

void verify_local(const Local& local, const Mesh& mesh) {
    const Graph& graph = local.graph;
    std::vector<bool> made(graph.values.size());
    for (const Value& value : graph.values) {
        check(value.part->sharding.dims.size() == value.part->global_shape.size(), value,
              "one entry of the sharding a dim");
        check(divides(value.part->global_shape, value.part->sharding), value, "every dim divides");
        check(local_shape(value.part->global_shape, value.part->sharding) == value.type.shape, value,
              "its type is the local part of the global value");
        std::vector<AxisRef> used = used_axes(value.part->sharding);
        for (size_t i = 0; i < used.size(); ++i) {
            check(used[i].axis >= 0 && used[i].axis < static_cast<int>(mesh.axes.size()), value,
                  "its axes are of the mesh");
            check(!overlaps_any(used[i], std::span(used).first(i)), value, "an axis is used once");
        }
    }
    for (ValueId id : graph.inputs) made[id] = true;
    for (const Node& node : graph.nodes) {
        for (ValueId id : node.inputs) check(made[id], graph.value(id), "it is made before it is read");
        for (ValueId id : node.outputs) {
            check(!made[id], graph.value(id), "it is made once");
            made[id] = true;
        }
        if (is_marker(node)) {
            continue; // it may make no value
        } else if (node.collective()) {
            check_collective(graph, node);
        } else {
            check(node.kernel() != nullptr, graph.value(node.outputs[0]), "an op has a kernel");
            // Of a compute node the kernel fits if its operands are split as the factors say; partition makes them so.
            // A slice is a move.
            check(node.op() != nullptr || std::holds_alternative<Move>(*node.kernel()), graph.value(node.outputs[0]),
                  "a slice is a move");
        }
    }
    verify_loops(graph);
    for (const GraphLoop& loop : graph.loops) {
        internal_check(loop.sums.empty() && loop.stacks.empty(), "a local loop only carries");
        if (loop.opens < 0) continue; // nobody reads its results
        for (const GraphLoop::Carried& carried : loop.carried)
            for (ValueId id : {carried.argument, carried.yield, carried.result})
                check(same_layout(graph.value(carried.init).part->sharding, graph.value(id).part->sharding),
                      graph.value(id), "what a loop carries keeps its sharding");
    }
    std::vector<bool> is_input(graph.values.size());
    for (ValueId id : graph.inputs) is_input[id] = true;
    for (const Update& update : graph.updates) {
        const Value &before = graph.value(update.input), &after = graph.value(update.output);
        check(is_input[update.input], before, "what is updated is an input");
        check(before.type.dtype == after.type.dtype && before.part->global_shape == after.part->global_shape, after,
              "an update keeps the type");
        check(same_layout(before.part->sharding, after.part->sharding), after, "an update keeps the sharding");
    }
    for (ValueId id : graph.outputs) {
        check(made[id], graph.value(id), "an output is made");
        check(graph.value(id).part->sharding.partial.empty(), graph.value(id), "an output is not partial");
    }
}

} // namespace shard
