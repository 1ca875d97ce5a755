#include "planner/graph/device_op.h"
#include "planner/ops_support/device.h"

namespace shard {

namespace {

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    if (!require_floating(builder, operands[0], "pmean", 0, span)) return std::nullopt;
    Chain chain(builder);
    const ValueId sum = chain("psum", {operands[0]}, over_same(attributes));
    return chain.result(chain("div", sum, static_cast<double>(group_size(attributes))));
}

} // namespace

const CompositeDef& composite_pmean() {
    static const CompositeDef def = {
        "pmean",
        "In a manual region: the mean of x over the devices along mesh axes, on each of them.\n{pmean: x, over: i}",
        {1, 1},
        {over_attribute()},
        build};
    return def;
}

} // namespace shard
