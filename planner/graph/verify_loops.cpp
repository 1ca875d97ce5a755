#include "planner/graph/verify_loops.h"

#include "planner/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

class LoopVerifier {
public:
    explicit LoopVerifier(const Graph& graph) : graph_(graph) {}

    void run() {
        for (NodeId n = 0; n < static_cast<NodeId>(graph_.nodes.size()); ++n) visit(n);
        check(open_.empty(), -1, "a loop is left open");
        for (const Value& value : graph_.values)
            check(value.loop < static_cast<int>(graph_.loops.size()), value.loop,
                  "a value of a loop that is not there");
        for (ValueId id : graph_.outputs)
            check(graph_.value(id).loop < 0, graph_.value(id).loop, "an output is of a body");
        for (int l = 0; l < static_cast<int>(graph_.loops.size()); ++l) check_loop(l);
    }

private:
    void check(bool condition, int loop, std::string_view rule) const {
        if (!condition) internal_error(fmt::format("loop {}: {}", loop, rule));
    }
    const GraphLoop& loop(int l) const { return graph_.loops[l]; }

    void visit(NodeId n) {
        const Node& node = graph_.node(n);
        if (node.closes() >= 0) {
            check(!open_.empty() && open_.back() == node.closes(), node.closes(), "loops are not nested");
            check(loop(node.closes()).closes == n, node.closes(), "its end is elsewhere");
            for (ValueId id : node.inputs)
                check(is_within(graph_, node.closes(), graph_.value(id).loop), node.closes(),
                      "it ends in what it cannot see");
            open_.pop_back();
        }
        const int around = open_.empty() ? -1 : open_.back();
        check(node.loop == around, node.loop, "a node is outside its loop");
        if (node.closes() < 0)
            for (ValueId id : node.inputs)
                check(is_within(graph_, around, graph_.value(id).loop), around, "it reads what only another loop has");
        for (ValueId id : node.outputs)
            check(graph_.value(id).loop == (node.opens() >= 0 ? node.opens() : around), around,
                  "a value is not of the loop that makes it");
        if (node.opens() < 0) return;
        check(loop(node.opens()).opens == n && loop(node.opens()).parent == around, node.opens(),
              "its beginning is elsewhere");
        open_.push_back(node.opens());
    }

    void check_loop(int l) const {
        const GraphLoop& of = loop(l);
        if (of.opens < 0) return;
        check(of.trips >= 1 && of.parent < l, l, "no trips, or around itself");
        const Node &opens = graph_.node(of.opens), &closes = graph_.node(of.closes);
        check(opens.inputs.size() == of.carried.size() && opens.outputs.size() == of.carried.size(), l,
              "it opens with other values than it carries");
        const size_t parts = of.carried.size() + of.sums.size() + of.stacks.size();
        check(closes.inputs.size() == parts && closes.outputs.size() == parts, l, "it closes with other values");
        size_t next = 0;
        const auto closes_with = [&](ValueId in, ValueId out) {
            const bool same = closes.inputs[next] == in && closes.outputs[next] == out;
            ++next;
            return same;
        };
        for (size_t n = 0; n < of.carried.size(); ++n) {
            const GraphLoop::Carried& carried = of.carried[n];
            check(opens.inputs[n] == carried.init && opens.outputs[n] == carried.argument &&
                      closes_with(carried.yield, carried.result),
                  l, "what it carries is not what its markers have");
            for (ValueId id : {carried.argument, carried.yield, carried.result})
                check(graph_.value(id).region == graph_.value(carried.init).region, l,
                      "what it carries enters a manual region or leaves one");
            for (ValueId id : {carried.argument, carried.yield, carried.result})
                check(graph_.value(id).type.shape == graph_.value(carried.init).type.shape &&
                          graph_.value(id).type.dtype == graph_.value(carried.init).type.dtype,
                      l, "what it carries changes its type");
        }
        for (const GraphLoop::Sum& sum : of.sums)
            check(closes_with(sum.term, sum.result), l, "a sum of something else");
        for (const GraphLoop::Stack& stack : of.stacks)
            check(closes_with(stack.slice, stack.result) && graph_.value(stack.result).type.shape.front() == of.trips,
                  l, "a stack of something else");
    }

    const Graph& graph_;
    std::vector<int> open_;
};

} // namespace

bool is_within(const Graph& graph, int inner, int outer) {
    while (inner >= 0 && inner != outer) inner = graph.loops[inner].parent;
    return inner == outer;
}

NodeId end_seen_from(const Graph& graph, int loop, NodeId n) {
    for (int inner = n < 0 ? -1 : graph.node(n).loop; inner >= 0 && !is_within(graph, loop, inner);) {
        const GraphLoop& of = graph.loops[inner];
        n = of.closes;
        inner = of.parent;
    }
    return n;
}

void verify_loops(const Graph& graph) { LoopVerifier(graph).run(); }

} // namespace shard
