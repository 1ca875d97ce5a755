#include "planner/partition/gradient_sums.h"

#include "planner/graph/op_def.h"

#include <algorithm>

namespace shard {

GradientSums gradient_sums(const Graph& graph, const GraphFacts& facts) {
    GradientSums found{std::vector<bool>(graph.nodes.size()), std::vector<bool>(graph.nodes.size())};
    struct Part {
        ValueId id;
        bool is_added_up; // over trips
    };
    std::vector<Part> open;
    enum class Seen { no, alone, added_up };
    std::vector<Seen> seen(graph.nodes.size(), Seen::no);
    for (ValueId id = 0; id < static_cast<ValueId>(graph.values.size()); ++id)
        if (graph.value(id).role == Role::gradient) open.push_back({id, false});
    while (!open.empty()) {
        const auto [id, is_added_up] = open.back();
        const NodeId producer = graph.value(id).producer;
        open.pop_back();
        const Seen now = is_added_up ? Seen::added_up : Seen::alone;
        if (producer < 0) continue;
        const Node& node = graph.node(producer);
        if (node.closes() >= 0) { // a sum over trips, or a stack of gradients, is a gradient in every trip
            const GraphLoop& loop = graph.loops[node.closes()];
            const auto is_of = [result = id](const GraphLoop::Sum& sum) { return sum.result == result; };
            const bool is_sum = std::any_of(loop.sums.begin(), loop.sums.end(), is_of);
            for (size_t n = 0; n < node.outputs.size(); ++n)
                if (node.outputs[n] == id) open.push_back({node.inputs[n], is_added_up || is_sum});
        }
        if (node.op() == nullptr || seen[producer] >= now) continue;
        seen[producer] = now;
        if (facts.has_reduction(producer)) {
            found.made[producer] = found.held[producer] = true;
            continue;
        }
        for (const int input : facts.passes_on(producer)) {
            open.push_back({node.inputs[input], is_added_up});
            found.made[producer] = node.loop >= 0;
            found.held[producer] = is_added_up && node.loop >= 0;
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
    // What it is made of by nothing but other shapes and types lies as it does: the sum in there is scattered where it is
    // made, before it is converted to a wider type. So does a stack of the loop inside.
    const auto store_back = [&](ValueId id, Sharding as) {
        for (;;) {
            const NodeId producer = graph.value(id).producer;
            if (producer < 0) return;
            const Node& node = graph.node(producer);
            if (node.closes() >= 0) return store(id, as);
            const OpDef* const op = node.op();
            if (op == nullptr || node.inputs.size() != 1) return;
            const ValueId from = node.inputs[0];
            const Shape &whole = graph.value(from).type.shape, &made = graph.value(id).type.shape;
            const auto adds_one = [](const Shape& less, const Shape& more) {
                return more.size() == less.size() + 1 && more.front() == 1 &&
                       std::equal(less.begin(), less.end(), more.begin() + 1);
            };
            Sharding before = as;
            if (op->reshapes && adds_one(whole, made))
                before.dims.erase(before.dims.begin());
            else if (op->reshapes && adds_one(made, whole))
                before.dims.insert(before.dims.begin(), DimSharding{});
            else if (whole != made || !(op->reshapes || op->op_class == OpDef::Class::pointwise))
                return;
            store(id, as);
            as = std::move(before);
            id = from;
        }
    };
    for (const GraphLoop& loop : graph.loops) { // outer before inner
        for (const GraphLoop::Sum& sum : loop.sums) {
            if (sum.becomes < 0 || sum.reduce == GradientReduce::end) continue;
            if (graph.value(sum.becomes).type.shape != graph.value(sum.result).type.shape) continue; // it is padded
            store(sum.result, shardings[sum.becomes]);
            store_back(sum.term, shardings[sum.becomes]);
        }
        for (const GraphLoop::Stack& stack : loop.stacks) {
            if (graph.value(stack.result).role != Role::gradient && !stored[stack.result]) continue;
            Sharding entry = shardings[stack.result];
            entry.dims.erase(entry.dims.begin());
            store_back(stack.slice, std::move(entry));
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
