#include "planner/ops_support/rule_maker.h"

namespace shard {

int RuleMaker::factor(FactorKind kind, i64 size) {
    constexpr std::string_view letters = "ijklmnopqrstuvwxyzabcdefghIJKLMNOPQRSTUVWXYZABCDEFGH";
    const size_t index = rule_.factors.size();
    rule_.factors.push_back({index < letters.size() ? letters[index] : '?', kind, size, false}); // for printing only
    return static_cast<int>(index);
}

} // namespace shard
