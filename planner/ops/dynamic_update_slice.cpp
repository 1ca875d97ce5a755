#include "planner/ops_support/gradient.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/move.h"
#include "planner/ops_support/rule_maker.h"
#include "planner/ops_support/window.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

InferResult infer(const InferContext& context) {
    if (!check_window(context, 2)) return std::nullopt;
    const TensorType &operand = context.operands[0], &update = context.operands[1];
    if (operand.dtype != update.dtype) {
        context.diagnostics.error("E0224", context.span,
                                  fmt::format("'dynamic_update_slice' puts {} into {}: {} into {}",
                                              operand_text(context, 1), operand_text(context, 0), name(update.dtype),
                                              name(operand.dtype)));
        return std::nullopt;
    }
    const std::vector<i64> dims = window_dims(context.attributes, context.operands.size(), 2);
    bool fits = operand.rank() == update.rank();
    for (size_t d = 0; fits && d < operand.shape.size(); ++d) {
        const bool moves = std::find(dims.begin(), dims.end(), static_cast<i64>(d)) != dims.end();
        fits = moves ? update.shape[d] <= operand.shape[d] : update.shape[d] == operand.shape[d];
    }
    if (!fits) {
        context.diagnostics
            .error("E0223", context.span,
                   fmt::format("'dynamic_update_slice' cannot put {} into {}", operand_text(context, 1),
                               operand_text(context, 0)))
            .help("the update is at most as long along the dims in `dim`, and as long along the others");
        return std::nullopt;
    }
    return InferResult{{make_type(operand.dtype, operand.shape)}};
}

void complete(std::span<const TensorType> operands, std::span<const TensorType>, Attributes& attributes) {
    attributes.set("dim", window_dims(attributes, operands.size(), 2));
}

// A device writes what of the window lies in its own part; for that it needs all of the update.
IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType>, const Attributes&) {
    RuleMaker maker(operands.size(), 1);
    for (size_t d = 0; d < operands[0].shape.size(); ++d) {
        const i64 size = operands[0].shape[d], written = operands[1].shape[d];
        const int factor = maker.factor(FactorKind::pass_through, size);
        maker.operand(0).push_back({factor});
        maker.operand(1).push_back({size == written ? factor : maker.factor(FactorKind::need_replication, written)});
        maker.result().push_back({factor});
    }
    return maker.rule();
}

Kernel lower(const LowerContext& context) {
    MovePiece update = whole_piece(1, context.local_operands[1].shape);
    update.out_start = window_start(context, 2, context.global_operands[1].shape, context.global_operands[0].shape);
    for (size_t d = 0; d < update.out_start.size(); ++d)
        if (context.global_operands[1].shape[d] != context.global_operands[0].shape[d])
            update.out_start[d] = update.out_start[d] + context.result_start(0, static_cast<int>(d)) * -1;
    Move move = copy_kernel(context.local_results[0]);
    move.pieces.push_back(std::move(update));
    return move;
}

// What was replaced has the gradient 0.
std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const std::vector<ValueId> starts(context.inputs.begin() + 2, context.inputs.end());
    const std::vector<i64>& dims = context.attributes.integers("dim");
    std::vector<ValueId> gradients(context.inputs.size(), -1);
    if (context.wanted[0]) {
        std::vector<ValueId> operands = {context.cotangent, zeros_of(chain, context.inputs[1])};
        operands.insert(operands.end(), starts.begin(), starts.end());
        gradients[0] = chain("dynamic_update_slice", operands, attributes_of({{"dim", dims}}));
    }
    if (context.wanted[1]) {
        const Shape& window = chain.type(context.inputs[1]).shape;
        std::vector<i64> sizes;
        for (i64 dim : dims) sizes.push_back(window[dim]);
        std::vector<ValueId> operands = {context.cotangent};
        operands.insert(operands.end(), starts.begin(), starts.end());
        gradients[1] = chain("dynamic_slice", operands, attributes_of({{"dim", dims}, {"size", sizes}}));
    }
    return gradients;
}

} // namespace

const OpDef& op_dynamic_update_slice() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "dynamic_update_slice";
        made.doc =
            "x with a window of it replaced; the window begins at scalars, one for each dim in `dim`, and where it "
            "would reach beyond the end it begins earlier.\n"
            "{dynamic_update_slice: [x, update, start], dim: length}";
        made.operands = {3, -1};
        made.attributes = {
            {"dim", AttributeDef::Type::dims, false, "the dims that the starts are for; the first ones unless said"}};
        made.infer = infer;
        made.complete = complete;
        made.rule = rule;
        made.lower = lower;
        made.gradient = gradient;
        made.windows = OpDef::Windows::writes;
        return made;
    }();
    return def;
}

} // namespace shard
