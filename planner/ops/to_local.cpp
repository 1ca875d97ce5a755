#include "planner/graph/region_ops.h"
#include "planner/ops_support/border.h"

namespace shard {

namespace {

InferResult infer(const InferContext& context) {
    TensorType type = context.operands[0];
    const std::vector<i64>& parts = context.attributes.integers("parts");
    for (size_t d = 0; d < parts.size(); ++d) type.shape[d] /= parts[d];
    return InferResult{{type}};
}

IndexRule rule(std::span<const TensorType>, std::span<const TensorType> results, const Attributes& attributes) {
    return border_rule(results[0], attributes, true);
}

std::vector<ValueId> gradient(const GradientContext& context) {
    const ShardingSpec spec = border_of(context);
    const std::optional<ValueId> whole =
        leave_region(context.builder, context.cotangent, static_cast<int>(context.attributes.integer("region")), spec);
    internal_check(whole.has_value(), "a gradient does not fit");
    return {*whole};
}

} // namespace

const OpDef& op_to_local() {
    static const DeviceOp device = {DeviceOp::Varying::adds, nullptr, nullptr, DeviceOp::Border::enters};
    static const OpDef def = [] {
        OpDef made;
        made.name = "to_local";
        made.doc = "What one device holds of a value that enters a manual region. The region's `in` makes it.\n"
                   "{manual: {in: {x: [i, ~]}, ...}}";
        made.operands = {1, 1};
        made.infer = infer;
        made.rule = rule;
        made.lower = lower_view;
        made.gradient = gradient;
        made.op_class = OpDef::Class::reshape_like;
        made.internal = true;
        made.device = &device;
        return made;
    }();
    return def;
}

} // namespace shard
