#include "planner/ops_support/gradient.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/move.h"
#include "planner/ops_support/rule_maker.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

namespace {

// Result dim d is operand dim permutation[d]; reversed unless said.
std::vector<i64> permutation_of(const Attributes& attributes, int rank) {
    if (attributes.has("permutation")) return attributes.integers("permutation");
    std::vector<i64> reversed;
    for (int d = rank; d-- > 0;) reversed.push_back(d);
    return reversed;
}

InferResult infer(const InferContext& context) {
    const TensorType& operand = context.operands[0];
    const std::vector<i64> permutation = permutation_of(context.attributes, operand.rank());
    std::vector<i64> sorted = permutation;
    std::sort(sorted.begin(), sorted.end());
    const bool distinct = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
    if (!distinct || permutation.size() != operand.shape.size()) {
        context.diagnostics
            .error("E0226", context.span,
                   fmt::format("[{}] is not an order of the dims of {}", fmt::join(permutation, ", "),
                               operand_text(context, 0)))
            .help(fmt::format("`permutation` names each of the {} dims once", operand.rank()));
        return std::nullopt;
    }
    Shape shape;
    for (i64 dim : permutation) shape.push_back(operand.shape[dim]);
    return InferResult{{make_type(operand.dtype, shape)}};
}

void complete(std::span<const TensorType> operands, std::span<const TensorType>, Attributes& attributes) {
    attributes.set("permutation", permutation_of(attributes, operands[0].rank()));
}

IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType>, const Attributes& attributes) {
    RuleMaker maker(1, 1);
    for (i64 size : operands[0].shape) maker.operand(0).push_back({maker.factor(FactorKind::pass_through, size)});
    for (i64 dim : permutation_of(attributes, operands[0].rank())) maker.result().push_back(maker.operand(0)[dim]);
    return maker.rule();
}

Kernel lower(const LowerContext& context) {
    Move move;
    for (i64 dim : permutation_of(context.attributes, context.local_operands[0].rank()))
        move.permutation.push_back(static_cast<int>(dim));
    move.pieces.push_back(whole_piece(0, context.local_results[0].shape));
    return move;
}

std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const std::vector<i64>& permutation = context.attributes.integers("permutation");
    std::vector<i64> inverse(permutation.size());
    for (size_t d = 0; d < inverse.size(); ++d) inverse[permutation[d]] = static_cast<i64>(d);
    return {chain("transpose", {context.cotangent}, attributes_of({{"permutation", inverse}}))};
}

} // namespace

const OpDef& op_transpose() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "transpose";
        made.doc = "The dims in another order: result dim d is operand dim permutation[d].\n{transpose: x, "
                   "permutation: [0, 2, 1]}";
        made.operands = {1, 1};
        made.attributes = {{"permutation", AttributeDef::Type::dims, false, "every dim once; reversed unless said"}};
        made.infer = infer;
        made.complete = complete;
        made.rule = rule;
        made.lower = lower;
        made.gradient = gradient;
        made.linear_in = {0};
        made.op_class = OpDef::Class::reshape_like;
        return made;
    }();
    return def;
}

} // namespace shard
