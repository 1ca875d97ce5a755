#include "planner/graph/local_use.h"
#include "planner/ops_support/device.h"

#include <algorithm>

namespace shard {

namespace {

std::vector<ValueId> meaning(Chain&, std::span<const ValueId> members, const Attributes&) {
    return {members.begin(), members.end()};
}

InferResult infer(const InferContext& context) {
    return InferResult{{make_type(context.operands[0].dtype, context.operands[0].shape)}};
}

// What every device reads gets the sum of what they all have to say about it; along axes over which it varies already,
// each device has its own.
std::vector<ValueId> gradient(const GradientContext& context) {
    const Graph& graph = context.builder.graph();
    const Value& operand = graph.value(context.inputs[0]);
    std::vector<int> axes;
    for (i64 axis : context.attributes.integers("mesh_axes"))
        if (std::find(operand.varying.begin(), operand.varying.end(), static_cast<int>(axis)) == operand.varying.end())
            axes.push_back(static_cast<int>(axis));
    if (axes.empty()) return {context.cotangent};
    Chain chain(context.builder);
    return {chain("psum", {context.cotangent}, over_axes(graph.regions[operand.region], axes))};
}

} // namespace

const OpDef& op_pvary() {
    static const DeviceOp device = {.varying = DeviceOp::Varying::adds, .meaning = meaning, .casts = true};
    static const OpDef def = [] {
        OpDef made;
        made.name = "pvary";
        made.doc =
            "In a manual region: x, from here on taken to vary along mesh axes; nothing is sent. Its gradient is "
            "then each device's own, not their sum.\n{pvary: x, over: i}";
        made.operands = {1, 1};
        made.attributes = {over_attribute()};
        made.infer = infer;
        made.rule = rule_pointwise;
        made.lower = lower_view;
        made.gradient = gradient;
        made.linear_in = {0};
        made.op_class = OpDef::Class::pointwise;
        made.device = &device;
        return made;
    }();
    return def;
}

} // namespace shard
