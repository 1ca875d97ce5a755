#include "planner/grad/backward_loop.h"

#include "planner/grad/recompute.h"
#include "planner/graph/graph_edit.h"
#include "planner/graph/loop_builder.h"
#include "planner/graph/verify_loops.h"

#include <fmt/format.h>

#include <map>

namespace shard {

namespace {

class Fetcher {
public:
    Fetcher(Builder& builder, int forward, int backward)
        : builder_(builder), graph_(builder.graph()), forward_(forward), backward_(backward) {}

    void run(const std::vector<ValueId*>& ends) {
        retell(graph_, loop(backward_).opens + 1, [this](std::vector<Node>& nodes, size_t n) {
            if (nodes[n].loop == backward_ && nodes[n].closes() < 0) fetch_inputs(nodes, n);
            for (ValueId& input : nodes[n].inputs) input = fetched(input);
        });
        for (ValueId* id : ends)
            if (is_of_forward(*id)) fetch(*id), *id = fetched(*id);
    }

private:
    GraphLoop& loop(int l) { return graph_.loops[l]; }
    bool is_of_forward(ValueId id) const {
        return graph_.value(id).loop >= 0 && is_within(graph_, graph_.value(id).loop, forward_);
    }
    ValueId fetched(ValueId id) const {
        const std::map<ValueId, ValueId>::const_iterator it = entries_.find(id);
        return it == entries_.end() ? id : it->second;
    }

    // Of a node, or of a loop as a whole: once, before it begins.
    void fetch_inputs(const std::vector<Node>& nodes, size_t n) {
        size_t end = n + 1;
        if (nodes[n].opens() >= 0)
            while (nodes[end].closes() != nodes[n].opens()) ++end;
        for (; n < end; ++n)
            for (ValueId id : nodes[n].inputs)
                if (is_of_forward(id)) fetch(id);
    }

    void fetch(ValueId id) {
        if (entries_.count(id) > 0) return;
        internal_check(graph_.value(id).loop == forward_, "what an inner loop makes is fetched from that loop");
        const Value value = graph_.value(id);
        const NodeId closes = loop(forward_).closes;
        const ValueId stack = add_result(value, closes);
        graph_.nodes[closes].inputs.push_back(id);
        graph_.nodes[closes].outputs.push_back(stack);
        loop(forward_).stacks.push_back({id, stack});
        builder_.set_place({loop(backward_).scope, value.name + ".kept", value.span, {}, {}});
        entries_[id] = entry_of(builder_, backward_, stack);
        builder_.rename(entries_[id], builder_.unique_name(value.name + ".kept", "_"), value.span);
    }

    ValueId add_result(const Value& value, NodeId closes) {
        Value stack;
        stack.name = builder_.unique_name(value.name + ".stack", "_");
        stack.type = value.type;
        stack.type.shape.insert(stack.type.shape.begin(), loop(forward_).trips);
        stack.type.logical.insert(stack.type.logical.begin(), "");
        stack.span = value.span;
        stack.region = value.region;
        stack.varying = value.varying;
        stack.producer = closes;
        stack.loop = loop(forward_).parent;
        return builder_.add_value(std::move(stack));
    }

    Builder& builder_;
    Graph& graph_;
    const int forward_, backward_;
    std::map<ValueId, ValueId> entries_; // of the forward body -> of the backward body
};

} // namespace

void fetch_from_forward(Builder& builder, int forward, int backward, std::vector<ValueId*> ends) {
    const Graph& graph = builder.graph();
    const GraphLoop& loop = graph.loops[forward];
    recompute_pointwise(builder, {loop.opens + 1, loop.closes, graph.loops[backward].opens + 1, forward, backward});
    Fetcher(builder, forward, backward).run(ends);
}

} // namespace shard
