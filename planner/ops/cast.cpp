#include "planner/ops_support/gradient.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

InferResult infer(const InferContext& context) {
    const std::optional<DType> dtype = parse_dtype(context.attributes.string("dtype"));
    internal_check(dtype.has_value(), "cast: unknown dtype");
    return InferResult{{make_type(*dtype, context.operands[0].shape)}};
}

std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const DType dtype = chain.type(context.inputs[0]).dtype;
    return {chain("cast", {context.cotangent}, attributes_of({{"dtype", std::string(name(dtype))}}))};
}

} // namespace

const OpDef& op_cast() {
    static const OpDef def = [] {
        OpDef made = pointwise_op<ScalarOp::cast, PointwiseTypes::numeric>(
            "cast", "The same numbers as another element type.\n{cast: x, dtype: bf16}", gradient);
        made.attributes = {{"dtype", AttributeDef::Type::dtype, true, "f32, f64, bf16, i32, i64, u32 or bool"}};
        made.infer = infer;
        return made;
    }();
    return def;
}

} // namespace shard
