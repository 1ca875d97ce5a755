#include "planner/partition/numbered_decisions.h"

#include "planner/graph/device_op.h"
#include "planner/partition/compute_halo.h"

namespace shard {

std::vector<int> NumberedDecisions::numbers_of(const GraphFacts& facts) {
    std::vector<int> numbers;
    for (const std::string& content : facts.contents)
        numbers.push_back(classes_.try_emplace(content, static_cast<int>(classes_.size())).first->second);
    return numbers;
}

NumberedDecision NumberedDecisions::decide(const ComputeQuery& query) {
    const ComputeDecision& decision = decisions_->find(query);
    NumberedDecision made{&decision, {}, decision.choice.kernel, false};
    if (query.op->device == nullptr || !query.op->device->collective)
        made.attributes = local_attributes(query, decision.rule, decision.choice);
    made.exchanges =
        query.op->overlaps != nullptr || !split_permutations(decision.rule, decision.choice.factor_axes).empty();
    return made;
}

} // namespace shard
