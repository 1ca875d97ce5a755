#include "planner/ops_support/gradient.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/move.h"
#include "planner/ops_support/per_dim.h"
#include "planner/ops_support/rule_maker.h"

#include <fmt/format.h>

namespace shard {

namespace {

struct Window {
    std::vector<i64> start, limit, stride;
};

// Negative starts and limits count from the end.
Window written_window(const TensorType& operand, const Attributes& attributes) {
    const size_t rank = operand.shape.size();
    return {per_dim(attributes, "start", std::vector<i64>(rank, 0)), per_dim(attributes, "limit", operand.shape),
            per_dim(attributes, "stride", std::vector<i64>(rank, 1))};
}

// The same, counted from the front.
Window window_of(const TensorType& operand, const Attributes& attributes) {
    const size_t rank = operand.shape.size();
    Window window = written_window(operand, attributes);
    for (size_t d = 0; d < rank; ++d) {
        if (window.start[d] < 0) window.start[d] += operand.shape[d];
        if (window.limit[d] < 0) window.limit[d] += operand.shape[d];
    }
    return window;
}

InferResult infer(const InferContext& context) {
    if (!check_per_dim(context, {"start", "limit", "stride"})) return std::nullopt;
    const TensorType& operand = context.operands[0];
    const Window window = window_of(operand, context.attributes);
    Shape shape;
    for (size_t d = 0; d < operand.shape.size(); ++d) {
        const i64 start = window.start[d], limit = window.limit[d], stride = window.stride[d];
        if (start < 0 || limit > operand.shape[d] || start >= limit || stride < 1) {
            const Window written = written_window(operand, context.attributes);
            context.diagnostics
                .error("E0226", context.span,
                       fmt::format("'slice' cannot take [{}:{}:{}] of dim {} of {}", written.start[d], written.limit[d],
                                   written.stride[d], d, operand_text(context, 0)))
                .help(
                    "0 <= start < limit <= size, and stride at least 1; negative starts and limits count from the end");
            return std::nullopt;
        }
        shape.push_back((limit - start - 1) / stride + 1);
    }
    return InferResult{{make_type(operand.dtype, shape)}};
}

void complete(std::span<const TensorType> operands, std::span<const TensorType> results, Attributes& attributes) {
    Window window = window_of(operands[0], attributes);
    for (size_t d = 0; d < results[0].shape.size(); ++d)
        if (results[0].shape[d] == 1) { // of one element any stride says the same
            window.limit[d] = window.start[d] + 1;
            window.stride[d] = 1;
        }
    attributes = {};
    attributes.set("start", window.start);
    attributes.set("limit", window.limit);
    attributes.set("stride", window.stride);
}

// A single element of a dim is had from the device that has it, of which the others give zeros: a reduction.
IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType> results, const Attributes&) {
    RuleMaker maker(1, 1);
    for (size_t d = 0; d < operands[0].shape.size(); ++d) {
        const i64 size = operands[0].shape[d], taken = results[0].shape[d];
        const FactorKind kind = size == taken ? FactorKind::pass_through
                                : taken == 1  ? FactorKind::reduction
                                              : FactorKind::permutation;
        const int factor = maker.factor(kind, size);
        maker.operand(0).push_back({factor});
        maker.result().push_back(
            {kind == FactorKind::reduction ? maker.factor(FactorKind::need_replication, taken) : factor});
    }
    return maker.rule();
}

Kernel lower(const LowerContext& context) {
    const Window window = window_of(context.global_operands[0], context.attributes);
    MovePiece piece = whole_piece(0, context.local_results[0].shape);
    Move move;
    for (size_t d = 0; d < piece.extent.size(); ++d) {
        if (context.global_operands[0].shape[d] == context.global_results[0].shape[d])
            continue; // whole: start 0, stride 1
        piece.in_start[d] = constant(window.start[d]) + context.operand_start(0, static_cast<int>(d)) * -1;
        piece.in_stride[d] = window.stride[d];
        move.covers = move.covers && piece.in_start[d].is_constant();
    }
    move.pieces.push_back(std::move(piece));
    return move;
}

// Of dims that are taken whole, the device's part.
Attributes local_attributes(const LowerContext& context) {
    Attributes attributes = context.attributes;
    std::vector<i64> limit = attributes.integers("limit");
    for (size_t d = 0; d < limit.size(); ++d)
        if (context.global_results[0].shape[d] == context.global_operands[0].shape[d])
            limit[d] = context.local_operands[0].shape[d];
    attributes.set("limit", std::move(limit));
    return attributes;
}

// What was not taken has the gradient 0.
std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const TensorType type = chain.type(context.inputs[0]);
    const Shape taken = chain.type(context.output).shape;
    const Window window = window_of(type, context.attributes);
    std::vector<i64> high, interior;
    for (size_t d = 0; d < taken.size(); ++d) {
        high.push_back(type.shape[d] - 1 - (window.start[d] + (taken[d] - 1) * window.stride[d]));
        interior.push_back(window.stride[d] - 1);
        // Of one element there is no between.
        if (taken[d] == 1) interior.back() = 0;
    }
    return {chain("pad", {context.cotangent},
                  attributes_of({{"low", window.start}, {"high", high}, {"interior", interior}}))};
}

} // namespace

const OpDef& op_slice() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "slice";
        made.doc = "Elements start, start + stride, ... below limit of every dim, or of the dims named.\n"
                   "{slice: x, dim: length, start: 0, limit: 64}";
        made.operands = {1, 1};
        made.attributes = {
            {"dim", AttributeDef::Type::dims, false, "the dims that the other arguments are for; all unless said"},
            {"start", AttributeDef::Type::integers, false, "0 unless said; negative counts from the end"},
            {"limit", AttributeDef::Type::integers, false, "the size unless said; negative counts from the end"},
            {"stride", AttributeDef::Type::integers, false, "1 unless said"}};
        made.infer = infer;
        made.complete = complete;
        made.rule = rule;
        made.lower = lower;
        made.local_attributes = local_attributes;
        made.gradient = gradient;
        made.linear_in = {0};
        return made;
    }();
    return def;
}

} // namespace shard
