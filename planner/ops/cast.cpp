#include "planner/ops_support/gradient.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/pointwise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

InferResult infer(const InferContext& context) {
    const std::optional<DType> dtype = parse_dtype(context.attributes.string("dtype"));
    internal_check(dtype.has_value(), "cast: unknown dtype");
    return InferResult{{make_type(*dtype, context.operands[0].shape)}};
}

std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    return {chain.cast(context.cotangent, chain.type(context.inputs[0]).dtype)};
}

// To a wider floating-point type nothing is rounded, so the sum may be taken afterwards, and is the more exact for it.
bool widens(std::span<const TensorType> operands, std::span<const TensorType> results) {
    return is_floating(operands[0].dtype) && is_floating(results[0].dtype) &&
           byte_size(results[0].dtype) > byte_size(operands[0].dtype);
}

} // namespace

const OpDef& op_cast() {
    static const std::string choices = [] {
        std::vector<std::string_view> names;
        for (DType dtype : all_dtypes()) names.push_back(name(dtype));
        return fmt::format("one of {}", fmt::join(names, ", "));
    }();
    static const OpDef def = [] {
        OpDef made = pointwise_op<ScalarOp::cast, PointwiseTypes::numeric>(
            "cast", "The same numbers as another element type.\n{cast: x, dtype: bf16}", gradient);
        made.attributes = {{"dtype", AttributeDef::Type::dtype, true, choices}};
        made.infer = infer;
        made.linear_in = {0};
        made.is_linear = widens;
        return made;
    }();
    return def;
}

} // namespace shard
