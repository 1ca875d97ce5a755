#include "planner/ops_support/border.h"

#include "planner/ops_support/rule_maker.h"

namespace shard {

IndexRule border_rule(const TensorType& local, const Attributes& attributes, bool enters) {
    RuleMaker maker(1, 1);
    TensorFactors &inner = enters ? maker.result() : maker.operand(0),
                  &outer = enters ? maker.operand(0) : maker.result();
    const std::vector<i64>& parts = attributes.integers("parts");
    for (size_t d = 0; d < local.shape.size(); ++d) {
        outer.emplace_back();
        if (parts[d] > 1) outer.back().push_back(maker.factor(FactorKind::need_replication, parts[d]));
        const int held = maker.factor(FactorKind::pass_through, local.shape[d]);
        outer.back().push_back(held);
        inner.push_back({held});
    }
    return maker.rule();
}

const ShardingSpec& border_of(const GradientContext& context) {
    const Graph& graph = context.builder.graph();
    return *graph.node(graph.value(context.output).producer).asked().border;
}

} // namespace shard
