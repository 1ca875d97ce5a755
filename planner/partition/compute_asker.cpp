#include "planner/partition/compute_asker.h"

#include "planner/graph/first_places.h"
#include "planner/graph/op_def.h"

#include <bit>

namespace shard {

ComputeAsker::ComputeAsker(const Graph& graph, const GraphFacts& facts, std::span<const Sharding> kept,
                           NumberedDecisions& decisions)
    : graph_(graph), facts_(facts), kept_(kept), decisions_(decisions), class_numbers_(decisions.numbers_of(facts)) {
    kept_numbers_.reserve(kept.size());
    for (const Sharding& sharding : kept) kept_numbers_.push_back(decisions.number_of(sharding));
}

void ComputeAsker::begin(NodeId id) {
    const Node& node = graph_.node(id);
    node_ = id;
    operands_.clear();
    forms_.clear();
    result_ = kept_numbers_[node.outputs[0]];
    // As compute_query says.
    sums_where_split_ = facts_.held_sums[id] || node.op()->of_stack == OpDef::OfStack::takes_entry;
}

void ComputeAsker::operand() { operands_.push_back({forms_.size()}); }

const NumberedDecision& ComputeAsker::decide() {
    const Node& node = graph_.node(node_);
    words_.assign({class_numbers_[facts_.classes.class_of(node_)], sums_where_split_ ? 1 : 0, result_});
    const std::vector<size_t> places = first_places(node.inputs); // which operands are one value
    for (size_t i = 0; i < operands_.size(); ++i) {
        const size_t first = operands_[i].first_form, end = end_of_forms(i);
        words_.push_back(kept_numbers_[node.inputs[i]]);
        words_.push_back(static_cast<int>(places[i]));
        words_.push_back(operands_[i].pending);
        words_.push_back(static_cast<int>(end - first));
        for (size_t form = first; form < end; ++form) {
            const PlanCost& base = forms_[form].base; // of ways between shardings: no work of its own
            words_.push_back(forms_[form].sharding);
            push(std::bit_cast<i64>(base.seconds));
            push(base.wire_bytes);
            words_.push_back(base.collectives);
        }
    }
    return decisions_.find(words_, [this] { return query(); });
}

void ComputeAsker::push(i64 number) {
    words_.push_back(static_cast<int>(number));
    words_.push_back(static_cast<int>(number >> 32));
}

OperandChoice ComputeAsker::choice_of(size_t operand) const {
    OperandChoice choice;
    for (size_t form = operands_[operand].first_form; form < end_of_forms(operand); ++form)
        choice.forms.push_back({decisions_.sharding(forms_[form].sharding), forms_[form].base});
    if (operands_[operand].pending >= 0) choice.pending = decisions_.sharding(operands_[operand].pending);
    return choice;
}

ComputeQuery ComputeAsker::query() const {
    size_t next = 0; // operands are asked for in their order
    ComputeQuery query =
        compute_query(graph_, node_, kept_, facts_.held_sums, [&](ValueId) { return choice_of(next++); });
    query.results_kept = {decisions_.sharding(result_)};
    query.sums_where_split = sums_where_split_;
    return query;
}

} // namespace shard
