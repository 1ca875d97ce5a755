#include "planner/ops_support/gradient.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/move.h"
#include "planner/ops_support/per_dim.h"
#include "plans/base/division.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

constexpr i64 most = i64{1} << 60; // more than any dim has

struct Padding {
    std::vector<i64> low, high, interior;
    bool leaves(size_t d) const { return low[d] == 0 && high[d] == 0 && interior[d] == 0; }
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
        const bool drops_all = low <= -most || high <= -most;
        const bool fits = !drops_all && !__builtin_mul_overflow(operand.shape[d] - 1, interior, &between) &&
                          !__builtin_add_overflow(operand.shape[d], between, &size) &&
                          !__builtin_add_overflow(size, low, &size) && !__builtin_add_overflow(size, high, &size);
        if (!fits || interior < 0 || size < 1) {
            context.diagnostics
                .error("E0226", context.span,
                       fmt::format("'pad' cannot add {} below, {} above and {} between the elements of dim {} of {}",
                                   low, high, interior, d, operand_text(context, 0)))
                .help(interior < 0        ? "what is between elements is 0 or more; to drop elements use `slice`"
                      : fits || drops_all ? "it would drop all elements"
                                          : "the result's size would not fit 64 bits");
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

IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType>, const Attributes& attributes) {
    const Padding padding = padding_of(operands[0], attributes);
    std::vector<bool> whole;
    for (size_t d = 0; d < operands[0].shape.size(); ++d) whole.push_back(padding.leaves(d));
    return windowed_rule(operands[0], whole);
}

Kernel lower(const LowerContext& context) {
    const Padding padding = padding_of(context.global_operands[0], context.attributes);
    MovePiece piece = whole_piece(0, context.local_operands[0].shape);
    Move move;
    move.fill = context.attributes.number("value", 0);
    for (size_t d = 0; d < piece.extent.size(); ++d) {
        if (padding.leaves(d)) continue;
        // Elements before `first` and from `last` on are dropped: they come to lie outside.
        const i64 stride = padding.interior[d] + 1, size = piece.extent[d];
        const i64 first = std::min(size, ceil_div(std::max<i64>(-padding.low[d], 0), stride));
        const i64 last = size - std::min(size, ceil_div(std::max<i64>(-padding.high[d], 0), stride));
        piece.in_start[d] = constant(first);
        piece.out_start[d] = constant(padding.low[d] + first * stride);
        piece.out_stride[d] = stride;
        piece.extent[d] = std::max<i64>(last - first, 0);
        move.covers = false;
    }
    move.pieces.push_back(std::move(piece));
    return move;
}

std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const TensorType type = chain.type(context.inputs[0]);
    const Padding padding = padding_of(type, context.attributes);
    // What was added has none, and what was dropped 0.
    std::vector<i64> low, high, stride;
    for (size_t d = 0; d < type.shape.size(); ++d) {
        low.push_back(-padding.low[d]);
        high.push_back(-padding.high[d]);
        stride.push_back(padding.interior[d] + 1);
    }
    const auto is_some = [](i64 count) { return count != 0; };
    ValueId result = context.cotangent;
    if (std::any_of(low.begin(), low.end(), is_some) || std::any_of(high.begin(), high.end(), is_some))
        result = chain("pad", {result}, attributes_of({{"low", low}, {"high", high}}));
    if (std::any_of(padding.interior.begin(), padding.interior.end(), is_some))
        result = chain("slice", {result}, attributes_of({{"stride", stride}}));
    return {result};
}

} // namespace

const OpDef& op_pad() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "pad";
        made.doc = "The value with `low` elements before, `high` after and `interior` between those of every dim, or "
                   "of the dims named; below 0, `low` and `high` drop elements.\n"
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
