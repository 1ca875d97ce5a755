// Builds an index rule factor by factor, in the order in which propagation shall prefer them.
//
//     RuleMaker maker(2, 1);                                        // two operands, one result
//     const int i = maker.factor(FactorKind::pass_through, 8);
//     maker.operand(0).push_back({i});
#pragma once

#include "plans/sharding/index_rule.h"

namespace shard {

class RuleMaker {
public:
    RuleMaker(size_t operands, size_t results) {
        rule_.operands.resize(operands);
        rule_.results.resize(results);
    }
    // The factor's index. Letters are i, j, k, ..., z, a, ..., h, then capitals.
    int factor(FactorKind kind, i64 size);
    TensorFactors& operand(size_t n) { return rule_.operands[n]; }
    TensorFactors& result(size_t n = 0) { return rule_.results[n]; }
    IndexRule& rule() { return rule_; }

private:
    IndexRule rule_;
};

} // namespace shard
