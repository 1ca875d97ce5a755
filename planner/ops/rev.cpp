#include "planner/ops_support/gradient.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/move.h"
#include "planner/ops_support/per_dim.h"

namespace shard {

namespace {

InferResult infer(const InferContext& context) {
    return InferResult{{make_type(context.operands[0].dtype, context.operands[0].shape)}};
}

void complete(std::span<const TensorType> operands, std::span<const TensorType>, Attributes& attributes) {
    const std::vector<i64> dims = dims_or_all(attributes, operands[0].rank());
    attributes = {};
    attributes.set("dims", dims);
}

// The blocks of a reversed dim would trade places.
IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType>, const Attributes& attributes) {
    std::vector<bool> whole(operands[0].shape.size(), true);
    for (i64 dim : dims_or_all(attributes, operands[0].rank())) whole[dim] = false;
    return windowed_rule(operands[0], whole);
}

Kernel lower(const LowerContext& context) {
    MovePiece piece = whole_piece(0, context.local_results[0].shape);
    for (i64 dim : dims_or_all(context.attributes, context.local_operands[0].rank())) {
        piece.in_start[dim] = constant(context.local_operands[0].shape[dim] - 1);
        piece.in_stride[dim] = -1;
    }
    Move move;
    move.pieces.push_back(std::move(piece));
    return move;
}

std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    return {chain("rev", {context.cotangent}, attributes_of({{"dims", context.attributes.integers("dims")}}))};
}

} // namespace

const OpDef& op_rev() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "rev";
        made.doc = "The elements along some dims in reverse order, the last one first.\n{rev: x, dims: [length]}";
        made.operands = {1, 1};
        made.attributes = {{"dims", AttributeDef::Type::dims, false, "the dims to turn round; all unless said"},
                           {"dim", AttributeDef::Type::dims, false, "the same, for one dim"}};
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
