// Asks how a node is computed, in the numbers of the decisions, so that a node like one before is a lookup:
//
//     asker.begin(node);
//     for each operand: asker.operand(), then its forms
//     asker.decide()
#pragma once

#include "planner/partition/numbered_decisions.h"

namespace shard {

class ComputeAsker {
public:
    // Values are kept as `kept`. All of them live longer than this.
    ComputeAsker(const Graph& graph, const GraphFacts& facts, std::span<const Sharding> kept,
                 NumberedDecisions& decisions);

    int number_of_kept(ValueId id) const { return kept_numbers_[id]; }

    // Forgets what was asked before.
    void begin(NodeId node);
    void operand(); // the next one
    // One way in which it can be had, as OperandForm and OperandChoice say.
    void form(int sharding, const PlanCost& base = {}) { forms_.push_back({sharding, base}); }
    void pending(int sharding) { operands_.back().pending = sharding; }
    // Others than begin() says: the result's sharding, a partial one as a wish; ComputeQuery::sums_where_split.
    void set_result(const Sharding& kept) { result_ = decisions_.number_of(kept); }
    void set_sums_where_split() { sums_where_split_ = true; }

    const NumberedDecision& decide();
    // The same at length.
    ComputeQuery query() const;

private:
    struct Form {
        int sharding;
        PlanCost base;
    };
    struct Operand {
        size_t first_form;
        int pending = -1;
    };
    void push(i64 number);
    OperandChoice choice_of(size_t operand) const;
    size_t end_of_forms(size_t operand) const {
        return operand + 1 < operands_.size() ? operands_[operand + 1].first_form : forms_.size();
    }

    const Graph& graph_;
    const GraphFacts& facts_;
    std::span<const Sharding> kept_;
    NumberedDecisions& decisions_;
    std::vector<int> class_numbers_, kept_numbers_; // by class, by value

    NodeId node_ = -1;
    std::vector<Operand> operands_;
    std::vector<Form> forms_; // of all operands
    int result_ = -1;
    bool sums_where_split_ = false;
    std::vector<int> words_;
};

} // namespace shard
