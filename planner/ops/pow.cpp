#include "planner/ops_support/gradient.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

std::vector<ValueId> gradient(const GradientContext& context) {
    // y x^(y-1); 0 where y is 0, whatever x is.
    const GradientFormula left = [](Chain& chain, const GradientContext& at) {
        const ValueId x = at.inputs[0], y = at.inputs[1];
        const DType dtype = chain.type(y).dtype;
        const ValueId lower = chain("select", {chain("eq", y, 0), at.builder.scalar(1, dtype), chain("sub", y, 1)});
        return chain("mul", {at.cotangent, chain("mul", {y, chain("pow", {x, lower})})});
    };
    // log(x) x^y; 0 where x is 0.
    const GradientFormula right = [](Chain& chain, const GradientContext& at) {
        const ValueId x = at.inputs[0];
        const ValueId base = chain("select", {chain("eq", x, 0), at.builder.scalar(1, chain.type(x).dtype), x});
        return chain("mul", {at.cotangent, chain("mul", {chain("log", {base}), at.output})});
    };
    return pointwise_gradient(context, {left, right});
}

} // namespace

const OpDef& op_pow() {
    static const OpDef def =
        pointwise_op<ScalarOp::pow, PointwiseTypes::floating>("pow", "x to the power of y.\n{pow: [x, 2.0]}", gradient);
    return def;
}

} // namespace shard
