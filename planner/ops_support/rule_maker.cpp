#include "planner/ops_support/rule_maker.h"

namespace shard {

int RuleMaker::factor(FactorKind kind, i64 size) {
    constexpr std::string_view letters = "ijklmnopqrstuvwxyzabcdefghIJKLMNOPQRSTUVWXYZABCDEFGH";
    const size_t index = rule_.factors.size();
    internal_check(index < letters.size(), "an index rule has more factors than letters");
    rule_.factors.push_back({letters[index], kind, size, false});
    return static_cast<int>(index);
}

} // namespace shard
