#include "planner/ops_support/infer.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

InferResult infer(const InferContext& context) { return InferResult{{context.operands[0]}}; }

Kernel lower(const LowerContext& context) {
    Pointwise kernel;
    kernel.input_dims = aligned_input_dims(context.local_operands, context.local_results[0].rank());
    ScalarStep input;
    input.op = ScalarOp::input;
    input.args[0] = 0;
    input.dtype = context.local_operands[0].dtype;
    kernel.steps = {input};
    return kernel;
}

} // namespace

const OpDef& op_stop_gradient() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "stop_gradient";
        made.doc = "x itself, but no gradient flows through.\n{stop_gradient: x}";
        made.infer = infer;
        made.rule = rule_pointwise;
        made.lower = lower;
        made.linear_in = {0};
        made.op_class = OpDef::Class::pointwise;
        return made;
    }();
    return def;
}

} // namespace shard
