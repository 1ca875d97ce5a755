#include "planner/graph/builder.h"
#include "planner/ops_support/contraction.h"
#include "planner/ops_support/infer.h"

#include <fmt/format.h>

namespace shard {

namespace {

// A right operand of rank 1 or 2 has no batch dims; of a higher rank its leading dims are batch dims, as in the left
// operand.
Contraction contraction_of(size_t left_rank, size_t right_rank) {
    constexpr char contracted = 'k', column = 'n';
    std::string batch;
    for (size_t d = 0; d + 1 < left_rank; ++d) batch += static_cast<char>('A' + static_cast<char>(d));
    Contraction made;
    made.operands = {batch + contracted, right_rank > 2 ? batch.substr(0, right_rank - 2) : std::string()};
    made.operands[1] += contracted;
    made.result = batch;
    if (right_rank > 1) {
        made.operands[1] += column;
        made.result += column;
    }
    return made;
}

InferResult infer(const InferContext& context) {
    const TensorType &left = context.operands[0], &right = context.operands[1];
    for (size_t n = 0; n < 2; ++n) {
        if (!check_dtype(context, n, is_floating, "a floating-point type")) return std::nullopt;
        if (context.operands[n].rank() > 0) continue;
        context.diagnostics
            .error("E0223", context.span,
                   fmt::format("'dot' contracts a dim, and {} is a scalar", operand_text(context, n)))
            .help("multiply by a scalar with `mul`");
        return std::nullopt;
    }
    if (!check_factors(context)) return std::nullopt;
    const size_t left_rank = left.shape.size(), right_rank = right.shape.size();
    const size_t contracted = right_rank == 1 ? 0 : right_rank - 2;
    if (left.shape.back() != right.shape[contracted]) {
        context.diagnostics
            .error("E0223", context.span,
                   fmt::format("the shapes of {} and {} do not fit for 'dot'", operand_text(context, 0),
                               operand_text(context, 1)))
            .note(fmt::format("dim {} of the left, of size {}, is contracted with dim {} of the right, of size {}",
                              left_rank - 1, left.shape.back(), contracted, right.shape[contracted]))
            .help("`dot` contracts the last dim of the left with the second-to-last of the right (its only dim if it "
                  "has one); for another contraction use `einsum`");
        return std::nullopt;
    }
    for (size_t d = 0; d < contracted; ++d) {
        if (d + 1 < left_rank && left.shape[d] == right.shape[d]) continue;
        context.diagnostics
            .error("E0223", context.span,
                   fmt::format("the shapes of {} and {} do not fit for 'dot'", operand_text(context, 0),
                               operand_text(context, 1)))
            .note(fmt::format("dim {} of the right is a batch dim: the left must have it too, with size {}", d,
                              right.shape[d]))
            .help("a right operand of rank 3 or more has batch dims in front; for another contraction use `einsum`");
        return std::nullopt;
    }
    const std::optional<DType> dtype = contraction_dtype(context);
    if (!dtype) return std::nullopt;
    Shape shape(left.shape.begin(), left.shape.end() - 1);
    if (right_rank > 1) shape.push_back(right.shape.back());
    return InferResult{{make_type(*dtype, shape)}};
}

IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType>, const Attributes&) {
    return contraction_rule(contraction_of(operands[0].shape.size(), operands[1].shape.size()), operands);
}

Kernel lower(const LowerContext& context) {
    return contraction_kernel(
        contraction_of(context.local_operands[0].shape.size(), context.local_operands[1].shape.size()));
}

std::vector<ValueId> gradient(const GradientContext& context) {
    const size_t left = context.builder.type(context.inputs[0]).shape.size(),
                 right = context.builder.type(context.inputs[1]).shape.size();
    return contraction_gradient(contraction_of(left, right), context);
}

} // namespace

const OpDef& op_dot() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "dot";
        made.doc =
            "The last dim of the left contracted with the second-to-last of the right (its only dim if it has one).\n"
            "{dot: [x, w]}";
        made.operands = {2, 2};
        made.attributes = {result_type_argument()};
        made.infer = infer;
        made.rule = rule;
        made.lower = lower;
        made.gradient = gradient;
        made.op_class = OpDef::Class::contraction;
        made.linear_in = {0, 1};
        return made;
    }();
    return def;
}

} // namespace shard
