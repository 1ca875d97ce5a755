#include "planner/propagate/cause_chain.h"

#include "planner/graph/op_def.h"
#include "planner/propagate/projection.h"

#include <algorithm>

namespace shard {

namespace {

// The first decision before `end` that put part of `axis` on the value; on any of its dims if `dim` is -1. `end` if
// there is none.
size_t find_decision(const DecisionLog& log, size_t end, ValueId value, int dim, const AxisRef& axis) {
    for (size_t i = 0; i < end; ++i)
        if (log[i].value == value && (dim < 0 || log[i].dim == dim) && overlaps_any(axis, log[i].axes)) return i;
    return end;
}

// One op and the shardings of its values on the factors of its rule; `ids` are operands, then results.
struct AtNode {
    IndexRule rule;
    Projection projection;
    std::vector<ValueId> ids;

    const TensorFactors& dims(size_t tensor) const {
        return tensor < rule.operands.size() ? rule.operands[tensor] : rule.results[tensor - rule.operands.size()];
    }
};

AtNode at_node(const Graph& graph, const Node& node, const Shardings& shardings) {
    AtNode at;
    std::vector<TensorType> operands, results;
    std::vector<Sharding> before, after;
    for (ValueId id : node.inputs) {
        operands.push_back(graph.value(id).type);
        before.push_back(shardings[id]);
        at.ids.push_back(id);
    }
    for (ValueId id : node.outputs) {
        results.push_back(graph.value(id).type);
        after.push_back(shardings[id]);
        at.ids.push_back(id);
    }
    at.rule = node.op()->rule(operands, results, node.attributes());
    at.projection = project(at.rule, before, after);
    return at;
}

// Why a tensor of an op lacks `axis` on a factor where another one has it; nullopt if it is not known.
std::optional<LostAxis> why_lost(const AtNode& at, const Graph& graph, const Sharding& mine, size_t me, int dim,
                                 int factor, const AxisRef& axis) {
    LostAxis lost;
    lost.axis = axis;
    for (size_t d = 0; d < mine.dims.size(); ++d)
        if (overlaps_any(axis, mine.dims[d].axes)) {
            lost.dim = static_cast<int>(d);
            return lost;
        }
    // What stands on the factor here, or else on a third tensor.
    lost.instead = at.projection.tensor(me).find(factor)->axes;
    for (size_t t = 0; t < at.ids.size() && lost.instead.empty(); ++t) {
        const FactorSharding* other = at.projection.tensor(t).find(factor);
        if (other != nullptr && !other->axes.empty() && !overlaps_any(axis, other->axes)) lost.instead = other->axes;
    }
    const i64 size = graph.value(at.ids[me]).type.shape[dim];
    const i64 parts = shard_count(mine.dims[dim]) * axis.size;
    if (lost.instead.empty() && size % parts == 0) return std::nullopt;
    return lost;
}

} // namespace

std::vector<LostAxis> lost_axes(const Graph& graph, const Shardings& shardings, ValueId value, int dim) {
    const Sharding& mine = shardings[value];
    std::vector<NodeId> nodes;
    if (graph.value(value).producer >= 0) nodes.push_back(graph.value(value).producer);
    for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
        const std::vector<ValueId>& inputs = graph.node(id).inputs;
        if (std::find(inputs.begin(), inputs.end(), value) != inputs.end()) nodes.push_back(id);
    }
    std::vector<LostAxis> found;
    for (NodeId id : nodes) {
        const Node& node = graph.node(id);
        if (node.op() == nullptr || node.op()->rule == nullptr) continue;
        const AtNode at = at_node(graph, node, shardings);
        for (size_t me = 0; me < at.ids.size(); ++me) {
            if (at.ids[me] != value || static_cast<size_t>(dim) >= at.dims(me).size()) continue;
            for (int factor : at.dims(me)[dim]) {
                const FactorKind kind = at.rule.factors[factor].kind;
                if (kind != FactorKind::pass_through && kind != FactorKind::reduction) continue;
                for (size_t t = 0; t < at.ids.size(); ++t) {
                    const FactorSharding* other = at.projection.tensor(t).find(factor);
                    if (at.ids[t] == value || other == nullptr) continue;
                    for (const AxisRef& axis : other->axes) {
                        if (axis.size == 1 || overlaps_any(axis, mine.dims[dim].axes)) continue;
                        if (std::any_of(found.begin(), found.end(),
                                        [&](const LostAxis& known) { return overlaps(known.axis, axis); }))
                            continue;
                        std::optional<LostAxis> lost = why_lost(at, graph, mine, me, dim, factor, axis);
                        if (!lost) continue;
                        lost->from = at.ids[t];
                        lost->node = id;
                        found.push_back(std::move(*lost));
                    }
                }
            }
        }
    }
    return found;
}

std::vector<Decision> cause_chain(const DecisionLog& log, ValueId value, int dim, const AxisRef& axis) {
    std::vector<Decision> chain;
    size_t end = log.size();
    // Each entry lies before the one that came from it, so this ends.
    for (;;) {
        const size_t found = find_decision(log, end, value, dim, axis);
        if (found == end) return chain;
        chain.push_back(log[found]);
        const Decision::Cause cause = log[found].cause;
        const bool goes_on = cause == Decision::Cause::propagation || cause == Decision::Cause::parameter;
        if (!goes_on || log[found].from < 0) return chain;
        value = log[found].from;
        dim = -1; // the dim of another tensor has another number; an axis is on one dim only
        end = found;
    }
}

} // namespace shard
