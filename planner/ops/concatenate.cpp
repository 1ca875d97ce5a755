#include "planner/ops_support/gradient.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/move.h"
#include "planner/ops_support/rule_maker.h"

#include <fmt/format.h>

namespace shard {

namespace {

InferResult infer(const InferContext& context) {
    if (!check_same_dtype(context)) return std::nullopt;
    const size_t joined = dim_attribute(context.attributes);
    Shape shape = context.operands[0].shape;
    for (size_t n = 1; n < context.operands.size(); ++n) {
        const Shape& other = context.operands[n].shape;
        bool fits = other.size() == shape.size();
        size_t at = 0;
        for (size_t d = 0; fits && d < shape.size(); ++d) {
            fits = d == joined || other[d] == shape[d];
            at = d;
        }
        if (!fits || __builtin_add_overflow(shape[joined], other[joined], &shape[joined])) {
            DiagnosticBuilder error =
                context.diagnostics.error("E0223", context.span,
                                          fmt::format("the shapes of {} and {} do not fit for 'concatenate'",
                                                      operand_text(context, 0), operand_text(context, n)));
            if (other.size() == shape.size())
                error.note(fmt::format("they differ in dim {}; only dim {} may", at, joined));
            return std::nullopt;
        }
    }
    return InferResult{{make_type(context.operands[0].dtype, shape)}};
}

IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType> results,
               const Attributes& attributes) {
    RuleMaker maker(operands.size(), 1);
    for (size_t d = 0; d < results[0].shape.size(); ++d) {
        const bool joined = static_cast<i64>(d) == dim_attribute(attributes);
        const int factor =
            maker.factor(joined ? FactorKind::permutation : FactorKind::pass_through, results[0].shape[d]);
        maker.result().push_back({factor});
        for (size_t n = 0; n < operands.size(); ++n) maker.operand(n).push_back({factor});
    }
    return maker.rule();
}

Kernel lower(const LowerContext& context) {
    const size_t joined = dim_attribute(context.attributes);
    Move move;
    i64 offset = 0;
    for (size_t n = 0; n < context.local_operands.size(); ++n) {
        MovePiece piece = whole_piece(static_cast<int>(n), context.local_operands[n].shape);
        piece.out_start[joined] = constant(offset);
        offset += piece.extent[joined];
        move.pieces.push_back(std::move(piece));
    }
    return move;
}

// Each operand's part.
std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const i64 dim = dim_attribute(context.attributes);
    std::vector<ValueId> parts;
    i64 start = 0;
    for (size_t n = 0; n < context.inputs.size(); ++n) {
        const i64 limit = start + chain.type(context.inputs[n]).shape[dim];
        parts.push_back(!context.wanted[n] ? -1
                                           : chain("slice", {context.cotangent},
                                                   attributes_of({{"dim", std::vector<i64>{dim}},
                                                                  {"start", std::vector<i64>{start}},
                                                                  {"limit", std::vector<i64>{limit}}})));
        start = limit;
    }
    return parts;
}

} // namespace

const OpDef& op_concatenate() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "concatenate";
        made.doc = "Values one after the other along a dim.\n{concatenate: [x, y], dim: -1}";
        made.operands = {1, -1};
        made.attributes = {{"dim", AttributeDef::Type::dim, true, "the dim that grows"}};
        made.infer = infer;
        made.rule = rule;
        made.lower = lower;
        made.gradient = gradient;
        made.jointly_linear = true;
        return made;
    }();
    return def;
}

} // namespace shard
