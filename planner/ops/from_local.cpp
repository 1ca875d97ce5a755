#include "planner/graph/region_ops.h"
#include "planner/ops_support/border.h"
#include "plans/base/saturating.h"

#include <algorithm>

namespace shard {

namespace {

InferResult infer(const InferContext& context) {
    TensorType type = context.operands[0];
    const std::vector<i64>& parts = context.attributes.integers("parts");
    for (size_t d = 0; d < parts.size(); ++d) type.shape[d] = multiply_saturating(type.shape[d], parts[d]);
    return InferResult{{type}};
}

IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType>, const Attributes& attributes) {
    return border_rule(operands[0], attributes, false);
}

// Devices along axes of which an unchecked result says nothing share its gradient: the result counts as their mean.
std::vector<ValueId> gradient(const GradientContext& context) {
    const ShardingSpec spec = border_of(context);
    const int index = static_cast<int>(context.attributes.integer("region"));
    const GraphRegion region = context.builder.graph().regions[index];
    const std::vector<int> varying = context.builder.graph().value(context.inputs[0]).varying;
    const std::vector<i64> named = context.attributes.integers("mesh_axes");
    i64 shares = 1;
    for (const AxisRef& axis : region.axes)
        if (std::find(varying.begin(), varying.end(), axis.axis) != varying.end() &&
            std::find(named.begin(), named.end(), axis.axis) == named.end())
            shares *= axis.size;
    Chain chain(context.builder);
    const ValueId share =
        shares == 1 ? context.cotangent : chain("mul", context.cotangent, 1 / static_cast<double>(shares));
    return {enter_region(context.builder, share, index, spec)};
}

} // namespace

const OpDef& op_from_local() {
    static const DeviceOp device = {DeviceOp::Varying::adds, nullptr, nullptr, DeviceOp::Border::leaves};
    static const OpDef def = [] {
        OpDef made;
        made.name = "from_local";
        made.doc = "The value of which the devices of a manual region hold the blocks. The region's `out` makes it.\n"
                   "{manual: {out: {y: [i, ~]}, ...}}";
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
