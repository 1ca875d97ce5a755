#include "planner/ops_support/ragged.h"

#include "planner/ops_support/contraction.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/rule_maker.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

bool is_transposed(const Attributes& attributes) { return attributes.flag("transposed", false); }

// How many batch dims the matrices have; -1 where there are no such dims of the rows.
i64 matrix_batch(RaggedPart part, std::span<const TensorType> operands, const Attributes& attributes) {
    const i64 batch = operands[0].rank() - 2;
    const i64 own = part == RaggedPart::rows ? operands[1].rank() - 3 : attributes.integer("batch", 0);
    return own < 0 || own > batch ? -1 : own;
}

// The result of operands that may fit; nullopt if their ranks do not.
std::optional<Shape> result_shape(RaggedPart part, std::span<const TensorType> operands, const Attributes& attributes) {
    const Shape &lhs = operands[0].shape, &rhs = operands[1].shape, &sizes = operands[2].shape;
    const i64 own = matrix_batch(part, operands, attributes);
    if (lhs.size() < 2 || own < 0 || sizes.empty()) return std::nullopt;
    if (part == RaggedPart::rows) {
        Shape shape(lhs.begin(), lhs.end() - 1);
        shape.push_back(is_transposed(attributes) ? rhs[rhs.size() - 2] : rhs.back());
        return shape;
    }
    if (rhs.empty()) return std::nullopt;
    Shape shape(lhs.end() - 2 - own, lhs.end() - 2);
    shape.insert(shape.end(), {sizes.back(), lhs.back(), rhs.back()});
    return shape;
}

bool refuse_shapes(RaggedPart part, const InferContext& context) {
    DiagnosticBuilder said =
        context.diagnostics.error("E0223", context.span,
                                  fmt::format("'{}' cannot combine {}, {} and {}", context.op, operand_text(context, 0),
                                              operand_text(context, 1), operand_text(context, 2)));
    if (part == RaggedPart::rows)
        said.note(is_transposed(context.attributes) ? "x is (..., rows, k), w (groups, n, k) and sizes (..., groups)"
                                                    : "x is (..., rows, k), w (groups, k, n) and sizes (..., groups)")
            .help("leading dims are those of x; w may have the last of them too, in front of its groups");
    else
        said.note("x is (..., rows, k), given (..., rows, n) and sizes (..., groups)")
            .help("leading dims are the same of all three; the result has the last `batch` of them");
    return false;
}

} // namespace

std::optional<std::vector<TensorType>> infer_ragged(RaggedPart part, const InferContext& context) {
    if (!check_dtype(context, 0, is_floating, "a floating-point type")) return std::nullopt;
    if (!check_same_dtype({context.operands.first(2), context.operand_spans, context.attributes, context.span,
                           context.diagnostics, context.op, context.operand_names}))
        return std::nullopt;
    if (!check_dtype(context, 2, is_integer, "whole numbers as sizes")) return std::nullopt;
    const std::optional<DType> dtype = contraction_dtype(context);
    if (!dtype) return std::nullopt;
    RaggedContract kernel;
    kernel.part = part;
    kernel.transposed = is_transposed(context.attributes);
    const std::optional<Shape> shape = result_shape(part, context.operands, context.attributes);
    if (!shape || !ragged_problem(kernel, context.operands, make_type(*dtype, *shape)).empty() ||
        (part == RaggedPart::rows &&
         context.operands[1].shape[context.operands[1].shape.size() - 3] != context.operands[2].shape.back())) {
        refuse_shapes(part, context);
        return std::nullopt;
    }
    return std::vector<TensorType>{make_type(*dtype, *shape)};
}

// A device that has some of the groups makes the rows of these, and zeros of the others: a sum over groups. Where rows
// lie in all depends on all sizes.
IndexRule ragged_rule(RaggedPart part, std::span<const TensorType> operands, std::span<const TensorType> results,
                      const Attributes& attributes) {
    const bool of_rows = part == RaggedPart::rows;
    constexpr FactorKind free = FactorKind::pass_through, summed = FactorKind::reduction,
                         whole = FactorKind::need_replication;
    const Shape& lhs = operands[0].shape;
    const size_t batch = lhs.size() - 2, own = static_cast<size_t>(matrix_batch(part, operands, attributes));
    const Shape& matrices = of_rows ? operands[1].shape : results[0].shape;
    const i64 columns = of_rows ? results[0].shape.back() : operands[1].shape.back();
    RuleMaker maker(3, 1);
    TensorFactors dims, of_matrices;
    for (size_t d = 0; d < batch; ++d) {
        const bool shared = d >= batch - own;
        dims.push_back({maker.factor(of_rows || shared ? free : summed, lhs[d])});
        if (shared) of_matrices.push_back(dims.back());
    }
    const DimFactors row = {maker.factor(of_rows ? free : summed, lhs[batch])}, column = {maker.factor(free, columns)},
                     k = {maker.factor(of_rows ? summed : free, lhs.back())};
    const i64 groups = matrices[own];
    of_matrices.push_back({maker.factor(groups == 1 ? whole : of_rows ? summed : free, groups)});
    const bool transposed = of_rows && is_transposed(attributes);
    of_matrices.push_back(transposed ? column : k);
    of_matrices.push_back(transposed ? k : column);
    const auto with = [&dims](std::initializer_list<DimFactors> last) {
        TensorFactors factors = dims;
        factors.insert(factors.end(), last);
        return factors;
    };
    const DimFactors sizes = {maker.factor(whole, operands[2].shape.back())};
    maker.operand(0) = with({row, k});
    maker.operand(1) = of_rows ? of_matrices : with({row, column});
    maker.operand(2) = with({sizes});
    maker.result() = of_rows ? with({row, column}) : of_matrices;
    return maker.rule();
}

Kernel lower_ragged(RaggedPart part, const LowerContext& context) {
    const bool of_rows = part == RaggedPart::rows;
    const int batch = context.global_operands[0].rank() - 2;
    const int own = static_cast<int>(matrix_batch(part, context.global_operands, context.attributes));
    return RaggedContract{part, of_rows && is_transposed(context.attributes), context.operand_start(0, batch),
                          of_rows ? context.operand_start(1, own) : context.result_start(0, own)};
}

Attributes ragged_dot_attributes(bool transposed) {
    Attributes attributes;
    if (transposed) attributes.set("transposed", true);
    return attributes;
}

Attributes ragged_gradient_attributes(i64 batch) {
    Attributes attributes;
    if (batch > 0) attributes.set("batch", batch);
    return attributes;
}

} // namespace shard
