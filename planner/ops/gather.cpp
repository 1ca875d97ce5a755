#include "planner/ops_support/gradient.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/rule_maker.h"

namespace shard {

namespace {

size_t axis_of(const Attributes& attributes) { return attributes.has("dim") ? dim_attribute(attributes) : 0; }

InferResult infer(const InferContext& context) {
    const TensorType &table = context.operands[0], &indices = context.operands[1];
    if (!check_dtype(context, 1, is_integer, "whole numbers as indices")) return std::nullopt;
    if (table.rank() == 0) {
        context.diagnostics.error("E0223", context.span,
                                  "'gather' takes along a dim, and " + operand_text(context, 0) + " is a scalar");
        return std::nullopt;
    }
    const std::ptrdiff_t axis = static_cast<std::ptrdiff_t>(axis_of(context.attributes));
    Shape shape(table.shape.begin(), table.shape.begin() + axis);
    shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
    shape.insert(shape.end(), table.shape.begin() + axis + 1, table.shape.end());
    return InferResult{{make_type(table.dtype, shape)}};
}

void complete(std::span<const TensorType>, std::span<const TensorType>, Attributes& attributes) {
    attributes.set("dim", std::vector<i64>{static_cast<i64>(axis_of(attributes))});
}

// A device that holds a part of the indexed dim gives zeros for indices outside it, so the dim is a reduction.
IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType> results,
               const Attributes& attributes) {
    const size_t axis = axis_of(attributes), index_rank = operands[1].shape.size();
    RuleMaker maker(2, 1);
    maker.operand(0).resize(operands[0].shape.size());
    maker.operand(1).resize(index_rank);
    for (size_t d = 0; d < results[0].shape.size(); ++d) {
        const int factor = maker.factor(FactorKind::pass_through, results[0].shape[d]);
        maker.result().push_back({factor});
        if (d >= axis && d < axis + index_rank)
            maker.operand(1)[d - axis] = {factor};
        else
            maker.operand(0)[d < axis ? d : d - index_rank + 1] = {factor};
    }
    const i64 size = operands[0].shape[axis];
    maker.operand(0)[axis] = {maker.factor(size == 1 ? FactorKind::need_replication : FactorKind::reduction, size)};
    return maker.rule();
}

Kernel lower(const LowerContext& context) {
    const size_t axis = axis_of(context.attributes);
    return Gather{static_cast<int>(axis), context.global_operands[0].shape[axis],
                  context.operand_start(0, static_cast<int>(axis))};
}

// What was looked up several times is the sum of its uses.
std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const size_t axis = axis_of(context.attributes);
    const std::vector<i64> size = {chain.type(context.inputs[0]).shape[axis]};
    return {chain("scatter_add", {context.inputs[1], context.cotangent},
                  attributes_of({{"dim", static_cast<i64>(axis)}, {"size", size}})),
            -1};
}

} // namespace

const OpDef& op_gather() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "gather";
        made.doc = "Slices of a table by indices along one dim, as an embedding lookup; indices beyond the ends take "
                   "the end.\n"
                   "{gather: [table, tokens], dim: 0}";
        made.operands = {2, 2};
        made.attributes = {{"dim", AttributeDef::Type::dim, false, "the indexed dim of the table; 0 unless said"}};
        made.infer = infer;
        made.complete = complete;
        made.rule = rule;
        made.lower = lower;
        made.gradient = gradient;
        made.linear_in = {0};
        return made;
    }();
    return def;
}

} // namespace shard
