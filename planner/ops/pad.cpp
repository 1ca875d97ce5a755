#include "planner/ops_support/gradient.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/move.h"
#include "planner/ops_support/per_dim.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

struct Padding {
    std::vector<i64> low, high, interior;
};

Padding padding_of(const TensorType& operand, const Attributes& attributes) {
    const std::vector<i64> none(operand.shape.size(), 0);
    Padding padding{per_dim(attributes, "low", none), per_dim(attributes, "high", none),
                    per_dim(attributes, "interior", none)};
    for (size_t d = 0; d < operand.shape.size(); ++d)
        if (operand.shape[d] == 1) padding.interior[d] = std::min<i64>(padding.interior[d], 0); // nothing is between
    return padding;
}

InferResult infer(const InferContext& context) {
    if (!check_per_dim(context, {"low", "high", "interior"})) return std::nullopt;
    const TensorType& operand = context.operands[0];
    if (!check_fits(context, context.attributes.number("value", 0), operand.dtype)) return std::nullopt;
    const Padding padding = padding_of(operand, context.attributes);
    Shape shape;
    for (size_t d = 0; d < operand.shape.size(); ++d) {
        const i64 low = padding.low[d], high = padding.high[d], interior = padding.interior[d];
        i64 between = 0, size = 0;
        const bool counts = low >= 0 && high >= 0 && interior >= 0;
        if (!counts || __builtin_mul_overflow(operand.shape[d] - 1, interior, &between) ||
            __builtin_add_overflow(operand.shape[d], between, &size) || __builtin_add_overflow(size, low, &size) ||
            __builtin_add_overflow(size, high, &size)) {
            context.diagnostics
                .error("E0226", context.span,
                       fmt::format("'pad' cannot add {} below, {} above and {} between the elements of dim {} of {}",
                                   low, high, interior, d, operand_text(context, 0)))
                .help(counts ? "the result's size would not fit 64 bits"
                             : "the counts must be 0 or more; to drop elements use `slice`");
            return std::nullopt;
        }
        shape.push_back(size);
    }
    return InferResult{{make_type(operand.dtype, shape)}};
}

void complete(std::span<const TensorType> operands, std::span<const TensorType>, Attributes& attributes) {
    const Padding padding = padding_of(operands[0], attributes);
    const double value = attributes.number("value", 0);
    attributes = {};
    attributes.set("low", padding.low);
    attributes.set("high", padding.high);
    attributes.set("interior", padding.interior);
    attributes.set("value", value);
}

IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType> results, const Attributes&) {
    std::vector<bool> whole;
    for (size_t d = 0; d < operands[0].shape.size(); ++d) whole.push_back(operands[0].shape[d] == results[0].shape[d]);
    return windowed_rule(operands[0], whole);
}

Kernel lower(const LowerContext& context) {
    const Padding padding = padding_of(context.global_operands[0], context.attributes);
    MovePiece piece = whole_piece(0, context.local_operands[0].shape);
    Move move;
    move.fill = context.attributes.number("value", 0);
    for (size_t d = 0; d < piece.extent.size(); ++d) {
        if (context.global_operands[0].shape[d] == context.global_results[0].shape[d]) continue; // not padded
        piece.out_start[d] = constant(padding.low[d]);
        piece.out_stride[d] = padding.interior[d] + 1;
        move.covers = false;
    }
    move.pieces.push_back(std::move(piece));
    return move;
}

std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const TensorType type = chain.type(context.inputs[0]);
    const Padding padding = padding_of(type, context.attributes);
    std::vector<i64> limit, stride;
    for (size_t d = 0; d < type.shape.size(); ++d) {
        stride.push_back(padding.interior[d] + 1);
        limit.push_back(padding.low[d] + (type.shape[d] - 1) * stride.back() + 1);
    }
    return {chain("slice", {context.cotangent},
                  attributes_of({{"start", padding.low}, {"limit", limit}, {"stride", stride}}))};
}

} // namespace

const OpDef& op_pad() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "pad";
        made.doc = "The value with `low` elements before, `high` after and `interior` between those of every dim, or "
                   "of the dims named.\n"
                   "{pad: x, dim: length, low: 1, high: 1, value: 0}";
        made.operands = {1, 1};
        made.attributes = {
            {"dim", AttributeDef::Type::dims, false, "the dims that the other arguments are for; all unless said"},
            {"low", AttributeDef::Type::integers, false, "0 unless said"},
            {"high", AttributeDef::Type::integers, false, "0 unless said"},
            {"interior", AttributeDef::Type::integers, false, "0 unless said"},
            {"value", AttributeDef::Type::element, false, "of the new elements, 0 unless said"}};
        made.infer = infer;
        made.complete = complete;
        made.rule = rule;
        made.gradient = gradient;
        made.lower = lower; // linear only if `value` is 0, so not listed as linear
        return made;
    }();
    return def;
}

} // namespace shard
