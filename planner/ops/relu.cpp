#include "planner/ops_support/gradient.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

Kernel lower(const LowerContext& context) {
    const DType dtype = context.local_results[0].dtype;
    Pointwise kernel;
    kernel.input_dims = aligned_input_dims(context.local_operands, context.local_results[0].rank());
    ScalarStep input, zero, larger;
    input.op = ScalarOp::input;
    input.args[0] = 0;
    zero.op = ScalarOp::constant;
    larger.op = ScalarOp::max;
    larger.args = {0, 1, -1};
    for (ScalarStep* step : {&input, &zero, &larger}) step->dtype = dtype;
    kernel.steps = {input, zero, larger};
    return kernel;
}

// 0 at 0, as in JAX, where max(x, 0) has one half. It asks the result, which the next op keeps anyway.
std::vector<ValueId> gradient(const GradientContext& context) {
    return pointwise_gradient(context, {[](Chain& chain, const GradientContext& at) {
                                  const ValueId zero = at.builder.scalar(0, chain.type(at.output).dtype);
                                  return chain("select", {chain("gt", at.output, 0), at.cotangent, zero});
                              }});
}

} // namespace

const OpDef& op_relu() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "relu";
        made.doc = "x where it is positive, else 0; NaN where it is NaN.\n{relu: x}";
        made.operands = {1, 1};
        made.infer = infer_pointwise_of<PointwiseTypes::numeric>;
        made.rule = rule_pointwise;
        made.lower = lower;
        made.gradient = gradient;
        made.op_class = OpDef::Class::pointwise;
        return made;
    }();
    return def;
}

} // namespace shard
