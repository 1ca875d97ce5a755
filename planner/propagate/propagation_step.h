// What stepping through one link does, worked out once per (rule, traits, priority, shardings) and remembered.
#pragma once

#include "planner/propagate/propagation_net.h"
#include "planner/propagate/sharding_table.h"

namespace shard {

// The axes that a dim gained, and the tensor of the link that had them before (-1: none had all of them).
struct AxisGain {
    int dim = -1;
    std::vector<AxisRef> axes;
    int source = -1;
};
// For each tensor of the link that changes (operands first, then results) its new sharding.
struct StepChange {
    int tensor = -1;
    int sharding = -1; // in the table
    std::vector<AxisGain> gains;
};
using StepOutcome = std::vector<StepChange>;

class PropagationSteps {
public:
    PropagationSteps(const RuleCache& rules, ShardingTable& table, const PropagateOptions& options)
        : rules_(rules), table_(table), options_(options) {}

    // `current` holds the table's id of every slot's sharding. The result stays valid.
    const StepOutcome& outcome(const PropagationLink& link, int priority, std::span<const int> current);

private:
    StepOutcome work_out(const PropagationLink& link, int priority, std::span<const int> current);

    struct KeyHash {
        size_t operator()(const std::vector<int>& key) const;
    };
    const RuleCache& rules_;
    ShardingTable& table_;
    const PropagateOptions options_;
    std::unordered_map<std::vector<int>, StepOutcome, KeyHash> outcomes_; // looked up, never iterated
    std::vector<int> key_;
};

} // namespace shard
