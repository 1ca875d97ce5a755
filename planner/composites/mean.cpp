#include "planner/graph/chain.h"

#include "planner/ops_support/infer.h"
#include "planner/ops_support/reduce.h"

namespace shard {

namespace {

// The count is that of the whole value, so a sum that is still partial may be scaled first and reduced later.
BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    if (!require_floating(builder, operands[0], "mean", 0, span)) return std::nullopt;
    const TensorType type = builder.type(operands[0]);
    double count = 1;
    for (i64 dim : dims_or_all(attributes, type.rank())) count *= static_cast<double>(type.shape[dim]);
    Chain chain(builder);
    return chain.result(chain("mul", chain("reduce_sum", {operands[0]}, attributes), 1 / count));
}

} // namespace

const CompositeDef& composite_mean() {
    static const CompositeDef def = {
        "mean",
        "The mean over some dims: the sum times one over the number of elements.\n{mean: x, dims: [-1], keepdims: "
        "true}",
        {1, 1},
        reduce_attributes("the dims to average over; all unless said"),
        build};
    return def;
}

} // namespace shard
