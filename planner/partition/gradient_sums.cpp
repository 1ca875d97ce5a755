#include "planner/partition/gradient_sums.h"

#include "planner/graph/op_def.h"

#include <algorithm>

namespace shard {

std::vector<bool> gradient_sums(const Graph& graph, const GraphFacts& facts) {
    std::vector<bool> found(graph.nodes.size());
    std::vector<ValueId> open;
    for (ValueId id = 0; id < static_cast<ValueId>(graph.values.size()); ++id)
        if (graph.value(id).role == Role::gradient) open.push_back(id);
    while (!open.empty()) {
        const ValueId id = open.back();
        const NodeId producer = graph.value(id).producer;
        open.pop_back();
        if (producer < 0 || found[producer]) continue;
        const Node& node = graph.node(producer);
        if (node.closes() >= 0) // a sum over trips, or a stack of gradients, is a gradient in every trip
            for (size_t n = 0; n < node.outputs.size(); ++n)
                if (node.outputs[n] == id) open.push_back(node.inputs[n]);
        if (node.op() == nullptr) continue;
        if (facts.has_reduction(producer))
            found[producer] = true;
        else
            for (const int input : facts.passes_on(producer)) {
                open.push_back(node.inputs[input]);
                found[producer] = node.loop >= 0;
            }
    }
    return found;
}

ValueId before_reshapes(const Graph& graph, ValueId id) {
    for (;;) {
        const NodeId producer = graph.value(id).producer;
        if (producer < 0 || !graph.node(producer).op() || !graph.node(producer).op()->reshapes) return id;
        id = graph.node(producer).inputs[0];
    }
}

Shardings store_sums_as_gradients(const Graph& graph, Shardings shardings) {
    std::vector<bool> stored(graph.values.size());
    const auto store = [&](ValueId id, const Sharding& as) {
        shardings[id] = as;
        stored[id] = true;
    };
    const auto closes_loop = [&](ValueId id) {
        const NodeId producer = graph.value(id).producer;
        return producer >= 0 && graph.node(producer).closes() >= 0;
    };
    for (const GraphLoop& loop : graph.loops) { // outer before inner
        for (const GraphLoop::Sum& sum : loop.sums) {
            if (sum.becomes < 0 || sum.reduce == GradientReduce::end) continue;
            if (graph.value(sum.becomes).type.shape != graph.value(sum.result).type.shape) continue; // it is padded
            const Sharding gradient = shardings[sum.becomes];
            store(sum.result, gradient);
            if (closes_loop(sum.term)) store(sum.term, gradient);
        }
        for (const GraphLoop::Stack& stack : loop.stacks) {
            if (graph.value(stack.result).role != Role::gradient && !stored[stack.result]) continue;
            Sharding entry = shardings[stack.result];
            entry.dims.erase(entry.dims.begin());
            // The entry is a stack of the loop inside, which the loop around takes with a dim of one entry.
            const ValueId inner = before_reshapes(graph, stack.slice);
            if (!closes_loop(inner) || graph.value(inner).type.shape != graph.value(stack.slice).type.shape) continue;
            for (ValueId id = stack.slice; id != inner; id = graph.node(graph.value(id).producer).inputs[0]) {
                Sharding on_the_way = entry;
                if (graph.value(id).type.rank() > graph.value(inner).type.rank())
                    on_the_way.dims.insert(on_the_way.dims.begin(), DimSharding{});
                if (on_the_way.dims.size() == graph.value(id).type.shape.size()) store(id, on_the_way);
            }
            store(inner, entry);
        }
    }
    return shardings;
}

std::vector<ValueId> gradients_of_parts(const Graph& graph) {
    std::vector<ValueId> gradients(graph.values.size(), -1);
    for (ValueId id = 0; id < static_cast<ValueId>(graph.values.size()); ++id)
        if (graph.value(id).role == Role::gradient) gradients[id] = id;
    const auto is_part = [&](ValueId part, ValueId whole) {
        if (whole < 0) return;
        for (const ValueId shown = before_reshapes(graph, part);;
             part = graph.node(graph.value(part).producer).inputs[0]) {
            ValueId& gradient = gradients[part];
            if (gradient < 0) gradient = gradients[whole];
            if (part == shown) return;
        }
    };
    // Outer loops come first: what an inner one makes is a part of what an outer one makes.
    for (const GraphLoop& loop : graph.loops) {
        for (const GraphLoop::Sum& sum : loop.sums) {
            is_part(sum.result, sum.becomes);
            is_part(sum.term, sum.result);
        }
        for (const GraphLoop::Stack& stack : loop.stacks) is_part(stack.slice, stack.result);
    }
    return gradients;
}

} // namespace shard
