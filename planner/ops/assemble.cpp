// Slices, paddings and concatenations of one another, as one op (planner/rewrite/join_moves.h).
#include "planner/ops_support/infer.h"
#include "planner/ops_support/pieces.h"
#include "planner/ops_support/rule_maker.h"

#include <algorithm>

namespace shard {

namespace {

// Steps of a box along a dim stay within its size.
bool is_inside(i64 start, i64 stride, i64 extent, i64 size) {
    if (extent < 1 || extent > size || start < 0 || start >= size || std::abs(stride) > size) return false;
    const i64 last = start + stride * (extent - 1);
    return last >= 0 && last < size;
}

InferResult infer(const InferContext& context) {
    const Shape& shape = context.attributes.integers("shape");
    const std::optional<std::vector<MovePiece>> pieces = read_pieces(context.attributes, shape.size());
    if (!pieces || !check_same_dtype(context)) return std::nullopt;
    for (const MovePiece& piece : *pieces) {
        if (piece.operand < 0 || piece.operand >= std::ssize(context.operands)) return std::nullopt;
        const Shape& from = context.operands[piece.operand].shape;
        for (size_t d = 0; d < shape.size(); ++d)
            if (from.size() != shape.size() ||
                !is_inside(piece.in_start[d].constant, piece.in_stride[d], piece.extent[d], from[d]) ||
                !is_inside(piece.out_start[d].constant, piece.out_stride[d], piece.extent[d], shape[d]))
                return std::nullopt;
    }
    return InferResult{{make_type(context.operands[0].dtype, shape)}};
}

// Along a dim that no piece moves along everything is as long, and stays where it is.
IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType> results,
               const Attributes& attributes) {
    const Shape& shape = results[0].shape;
    const std::vector<MovePiece> pieces = *read_pieces(attributes, shape.size());
    RuleMaker maker(operands.size(), 1);
    for (size_t d = 0; d < shape.size(); ++d) {
        const bool stays = std::all_of(pieces.begin(), pieces.end(), [&](const MovePiece& piece) {
            return stays_along(piece, d, shape[d]) && operands[piece.operand].shape[d] == shape[d];
        });
        const int factor = maker.factor(stays ? FactorKind::pass_through : FactorKind::permutation, shape[d]);
        maker.result().push_back({factor});
        for (size_t n = 0; n < operands.size(); ++n) maker.operand(n).push_back({factor});
    }
    return maker.rule();
}

Kernel lower(const LowerContext& context) {
    const Shape& whole = context.global_results[0].shape;
    Move move;
    move.pieces = *read_pieces(context.attributes, whole.size());
    i64 copied = 0;
    for (MovePiece& piece : move.pieces) {
        for (size_t d = 0; d < whole.size(); ++d)
            if (context.local_results[0].shape[d] != whole[d]) piece.extent[d] = context.local_results[0].shape[d];
        copied += element_count(piece.extent);
    }
    move.covers = copied == context.local_results[0].elements();
    return move;
}

} // namespace

const OpDef& op_assemble() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "assemble";
        made.doc = "Boxes of values, each at its place, and zeros elsewhere.";
        made.operands = {1, -1};
        made.attributes = {
            {"shape", AttributeDef::Type::shape, true, "the result's"},
            {"pieces", AttributeDef::Type::integers, true,
             "of each box the operand, and along each dim where it begins there, its stride there, where "
             "it begins in the result, its stride in it, and how long it is"}};
        made.infer = infer;
        made.rule = rule;
        made.lower = lower;
        made.jointly_linear = true;
        made.internal = true;
        return made;
    }();
    return def;
}

} // namespace shard
