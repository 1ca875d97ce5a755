#include "planner/ops_support/pointwise.h"

#include "planner/ops_support/infer.h"

namespace shard {

namespace {

bool is_any(DType) { return true; }

struct Wanted {
    bool (*test)(DType);
    std::string_view text;
};

Wanted wanted(PointwiseTypes types) {
    switch (types) {
    case PointwiseTypes::numeric:
        return {is_numeric, "numbers"};
    case PointwiseTypes::integer:
        return {is_integer, "whole numbers"};
    case PointwiseTypes::signed_:
        return {is_signed, "signed numbers"};
    case PointwiseTypes::floating:
    case PointwiseTypes::test:
        return {is_floating, "a floating-point type"};
    case PointwiseTypes::boolean:
        return {is_boolean, "bool"};
    case PointwiseTypes::comparison:
        return {is_any, "any type"};
    }
    internal_error("unknown PointwiseTypes");
}

} // namespace

std::optional<std::vector<TensorType>> infer_pointwise(PointwiseTypes types, const InferContext& context) {
    const Wanted kind = wanted(types);
    for (size_t n = 0; n < context.operands.size(); ++n)
        if (!check_dtype(context, n, kind.test, kind.text)) return std::nullopt;
    if (!check_same_dtype(context)) return std::nullopt;
    const std::optional<Shape> shape = broadcast_shape(context);
    if (!shape) return std::nullopt;
    const bool to_boolean = types == PointwiseTypes::test || types == PointwiseTypes::comparison;
    return InferResult{{make_type(to_boolean ? DType::boolean : context.operands[0].dtype, *shape)}};
}

IndexRule rule_pointwise(std::span<const TensorType> operands, std::span<const TensorType> results, const Attributes&) {
    return pointwise_rule(operands, results);
}

std::vector<std::vector<int>> aligned_input_dims(std::span<const TensorType> operands, int result_rank) {
    std::vector<std::vector<int>> dims;
    for (const TensorType& operand : operands) {
        std::vector<int> of_operand;
        for (int d = 0; d < operand.rank(); ++d) of_operand.push_back(result_rank - operand.rank() + d);
        dims.push_back(std::move(of_operand));
    }
    return dims;
}

Kernel lower_pointwise(ScalarOp op, const LowerContext& context) {
    Pointwise kernel;
    kernel.input_dims = aligned_input_dims(context.local_operands, context.local_results[0].rank());
    ScalarStep last;
    last.op = op;
    last.dtype = context.local_results[0].dtype;
    for (size_t n = 0; n < context.local_operands.size(); ++n) {
        ScalarStep input;
        input.op = ScalarOp::input;
        input.args[0] = static_cast<int>(n);
        input.dtype = context.local_operands[n].dtype;
        kernel.steps.push_back(input);
        last.args[n] = static_cast<int>(n);
    }
    kernel.steps.push_back(last);
    return kernel;
}

} // namespace shard
