#include "planner/partition/compute_decisions.h"

namespace shard {

const ComputeDecision& ComputeDecisions::find(const ComputeQuery& query) {
    return decided_.find(memo_key(query), [&] {
        ComputeDecision decision;
        decision.rule = query.op->rule(query.operand_types, query.result_types, *query.attributes);
        decision.choice = choose_compute_sharding(redistributor_, query, decision.rule);
        return decision;
    });
}

ComputeQuery compute_query(const Graph& graph, NodeId id, std::span<const Sharding> kept, const std::vector<bool>& sums,
                           const std::function<OperandChoice(ValueId)>& choice_of) {
    const Node& node = graph.node(id);
    internal_check(node.outputs.size() == 1, "an op with one kernel has one result");
    ComputeQuery query;
    query.op = node.op();
    query.attributes = &node.attributes();
    for (ValueId input : node.inputs) {
        query.operand_types.push_back(graph.value(input).type);
        query.operand_values.push_back(input);
        query.operands.push_back(choice_of(input));
        query.operand_kept.push_back(kept[input]);
    }
    query.result_types = {graph.value(node.outputs[0]).type};
    query.results_kept = {kept[node.outputs[0]]};
    // Of a stack that is split, a layer is had from its holder, never by gathering the stack.
    query.sums_where_split = sums[id] || node.op()->of_stack == OpDef::OfStack::takes_entry;
    return query;
}

} // namespace shard
