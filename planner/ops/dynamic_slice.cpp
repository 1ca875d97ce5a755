#include "planner/ops_support/gradient.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/move.h"
#include "planner/ops_support/rule_maker.h"
#include "planner/ops_support/window.h"

#include <fmt/format.h>

namespace shard {

namespace {

InferResult infer(const InferContext& context) {
    if (!check_window(context, 1)) return std::nullopt;
    const std::vector<i64> dims = window_dims(context.attributes, context.operands.size(), 1);
    const std::vector<i64>& sizes = context.attributes.integers("size");
    Shape shape = context.operands[0].shape;
    for (size_t n = 0; n < dims.size(); ++n) {
        i64& size = shape[dims[n]];
        if (sizes.size() != dims.size() || sizes[n] < 1 || sizes[n] > size) {
            context.diagnostics
                .error("E0226", context.span,
                       fmt::format("`size` of 'dynamic_slice' does not fit the dims of {}", operand_text(context, 0)))
                .help("one size for each dim in `dim`, from 1 to that of the operand");
            return std::nullopt;
        }
        size = sizes[n];
    }
    return InferResult{{make_type(context.operands[0].dtype, shape)}};
}

void complete(std::span<const TensorType> operands, std::span<const TensorType>, Attributes& attributes) {
    attributes.set("dim", window_dims(attributes, operands.size(), 1));
}

// A device that holds a part of a dim gives zeros for what of the window lies elsewhere, so the dim is a reduction.
IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType> results, const Attributes&) {
    RuleMaker maker(operands.size(), 1);
    for (size_t d = 0; d < results[0].shape.size(); ++d) {
        const i64 size = operands[0].shape[d], taken = results[0].shape[d];
        const int factor = maker.factor(size == taken ? FactorKind::pass_through : FactorKind::reduction, size);
        maker.operand(0).push_back({factor});
        maker.result().push_back({size == taken ? factor : maker.factor(FactorKind::need_replication, taken)});
    }
    return maker.rule();
}

Kernel lower(const LowerContext& context) {
    MovePiece piece = whole_piece(0, context.local_results[0].shape);
    piece.in_start = window_start(context, 1, context.global_results[0].shape, context.global_operands[0].shape);
    Move move;
    for (size_t d = 0; d < piece.in_start.size(); ++d) {
        if (context.local_operands[0].shape[d] == context.global_operands[0].shape[d]) continue;
        if (context.global_results[0].shape[d] == context.global_operands[0].shape[d]) continue;
        piece.in_start[d] = piece.in_start[d] + context.operand_start(0, static_cast<int>(d)) * -1;
        move.covers = false;
    }
    move.pieces.push_back(std::move(piece));
    return move;
}

// What was not taken has the gradient 0.
std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    std::vector<ValueId> operands = {zeros_of(chain, context.inputs[0]), context.cotangent};
    operands.insert(operands.end(), context.inputs.begin() + 1, context.inputs.end());
    std::vector<ValueId> gradients(context.inputs.size(), -1);
    gradients[0] =
        chain("dynamic_update_slice", operands, attributes_of({{"dim", context.attributes.integers("dim")}}));
    return gradients;
}

} // namespace

const OpDef& op_dynamic_slice() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "dynamic_slice";
        made.doc =
            "A window of fixed size that begins at scalars, one for each dim in `dim`; where it would reach beyond "
            "the end it begins earlier.\n"
            "{dynamic_slice: [x, start], dim: length, size: 4}";
        made.operands = {2, -1};
        made.attributes = {
            {"dim", AttributeDef::Type::dims, false, "the dims that the starts are for; the first ones unless said"},
            {"size", AttributeDef::Type::integers, true, "the window's sizes along them"}};
        made.infer = infer;
        made.complete = complete;
        made.rule = rule;
        made.lower = lower;
        made.gradient = gradient;
        made.windows = OpDef::Windows::takes;
        made.linear_in = {0};
        return made;
    }();
    return def;
}

} // namespace shard
