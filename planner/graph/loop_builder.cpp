#include "planner/graph/loop_builder.h"

#include "planner/graph/chain.h"
#include "planner/graph/graph_edit.h"
#include "planner/graph/local_use.h"
#include "planner/graph/loop_index.h"

#include <algorithm>
#include <numeric>

namespace shard {

namespace {

ValueId must(std::optional<ValueId> id) {
    internal_check(id.has_value(), "an op of a loop was refused");
    return *id;
}

// What a marker makes of `from` is of the same region.
void take_region(Graph& graph, ValueId made, ValueId from) {
    graph.value(made).region = graph.value(from).region;
    graph.value(made).varying = graph.value(from).varying;
}

} // namespace

LoopBuilder::LoopBuilder(Builder& builder, const GraphLoop& header, std::vector<ValueId> inits,
                         const std::vector<std::vector<int>>& varying)
    : builder_(builder), inits_(std::move(inits)) {
    Graph& graph = builder.graph();
    for (size_t n = 0; n < varying.size(); ++n) inits_[n] = builder.vary(inits_[n], varying[n]);
    loop_ = static_cast<int>(graph.loops.size());
    graph.loops.push_back(header);
    GraphLoop& loop = graph.loops.back();
    loop.parent = builder.loop();
    Node marker;
    marker.does = LoopOpens{loop_};
    marker.inputs = inits_;
    std::vector<TensorType> types;
    for (ValueId id : inits_) types.push_back(builder.type(id));
    arguments_ = builder.emit_marker(std::move(marker), types, "argument");
    for (size_t n = 0; n < arguments_.size(); ++n) {
        Value& argument = graph.value(arguments_[n]);
        argument.loop = loop_;
        take_region(graph, arguments_[n], inits_[n]);
        if (n < varying.size()) join(argument.varying, varying[n]); // a constant stays as it is
    }
    builder.set_loop(loop_);
}

LoopBuilder::LoopBuilder(Builder& builder, int loop) : builder_(builder), loop_(loop) { builder.set_loop(loop); }

ValueId entry_of(Builder& builder, int loop, ValueId stack) {
    const TensorType type = builder.type(stack);
    Attributes attributes = loop_attributes(builder.graph(), loop);
    attributes.set("dim", i64{0});
    const ValueId slice = must(builder.emit("loop_slice", {stack}, std::move(attributes)));
    return must(builder.emit("reshape", {slice},
                             shape_of(Shape(type.shape.begin() + 1, type.shape.end()),
                                      std::vector<std::string>(type.logical.begin() + 1, type.logical.end()))));
}

void LoopBuilder::in_front(const std::function<void()>& emit) {
    Graph& graph = builder_.graph();
    const GraphLoop& loop = graph.loops[loop_];
    const NodeId opens = loop.opens;
    const std::ptrdiff_t end = static_cast<std::ptrdiff_t>(graph.nodes.size());
    const int here = builder_.loop();
    builder_.set_loop(loop.parent);
    emit();
    builder_.set_loop(here);
    std::vector<NodeId> order(graph.nodes.size());
    std::iota(order.begin(), order.end(), 0);
    std::rotate(order.begin() + opens, order.begin() + end, order.end());
    keep_nodes(graph, order);
}

ValueId LoopBuilder::rows(ValueId value, size_t dim) {
    Attributes attributes = loop_attributes(builder_.graph(), loop_);
    attributes.set("dim", static_cast<i64>(dim));
    return must(builder_.emit("loop_slice", {value}, std::move(attributes)));
}

LoopBuilder::Results LoopBuilder::close(std::vector<ValueId> yields, const std::vector<ValueId>& terms,
                                        const std::vector<ValueId>& slices, const std::string& stack_axis) {
    internal_check(yields.size() == arguments_.size(), "a loop yields what it carries");
    Graph& graph = builder_.graph();
    for (size_t n = 0; n < yields.size(); ++n) yields[n] = builder_.vary(yields[n], graph.value(arguments_[n]).varying);
    Node marker;
    marker.does = LoopCloses{loop_};
    std::vector<TensorType> types;
    for (const std::vector<ValueId>& list : {yields, terms})
        for (ValueId id : list) {
            marker.inputs.push_back(id);
            types.push_back(builder_.type(id));
        }
    const i64 trips = graph.loops[loop_].trips;
    for (ValueId id : slices) {
        marker.inputs.push_back(id);
        types.push_back(builder_.type(id));
        types.back().shape.insert(types.back().shape.begin(), trips);
        types.back().logical.insert(types.back().logical.begin(), stack_axis);
    }
    builder_.set_loop(graph.loops[loop_].parent);
    const std::vector<ValueId> ends = marker.inputs;
    const std::vector<ValueId> made = builder_.emit_marker(std::move(marker), types, "result");
    for (size_t n = 0; n < made.size(); ++n) take_region(graph, made[n], n < yields.size() ? arguments_[n] : ends[n]);
    GraphLoop& loop = graph.loops[loop_];
    Results results;
    size_t next = 0;
    for (size_t n = 0; n < yields.size(); ++n) {
        loop.carried.push_back({inits_[n], arguments_[n], yields[n], made[next]});
        results.carried.push_back(made[next++]);
    }
    for (ValueId term : terms) {
        loop.sums.push_back({term, made[next]});
        results.sums.push_back(made[next++]);
    }
    for (ValueId slice : slices) {
        loop.stacks.push_back({slice, made[next]});
        results.stacks.push_back(made[next++]);
    }
    return results;
}

} // namespace shard
