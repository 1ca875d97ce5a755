// What one trip of a loop takes of a value: with as many entries as trips one of them, as of parameters that are
// stacked by layer; with more every trips-th row, counted from the index.
//
// So a batch of m microbatches is (rows, m), the minor part being the loop: a device that holds consecutive rows holds
// its share of every microbatch, and taking one moves nothing between devices. An entry of a stack that is split over
// devices comes from the one that holds it: the others have zeros, and the sum is reduced.
#include "planner/graph/loop_index.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/move.h"
#include "planner/ops_support/rule_maker.h"

namespace shard {

namespace {

// The dim that the trips share, and how many of its entries a trip takes.
size_t shared_dim(const Attributes& attributes) { return attributes.integer("dim"); }
i64 entries(const TensorType& operand, const Attributes& attributes) {
    return operand.shape[shared_dim(attributes)] / loop_trips(attributes);
}

InferResult infer(const InferContext& context) {
    TensorType result = context.operands[0];
    const size_t dim = shared_dim(context.attributes);
    internal_check(dim < result.shape.size() && result.shape[dim] % loop_trips(context.attributes) == 0,
                   "loop_slice: the trips do not share the dim");
    result.shape[dim] = entries(context.operands[0], context.attributes);
    return InferResult{{std::move(result)}};
}

IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType> results,
               const Attributes& attributes) {
    RuleMaker maker(1, 1);
    const size_t dim = shared_dim(attributes);
    const i64 rows = entries(operands[0], attributes), trips = loop_trips(attributes);
    for (size_t d = 0; d < operands[0].shape.size(); ++d) {
        if (d != dim) {
            const int factor = maker.factor(FactorKind::pass_through, results[0].shape[d]);
            maker.operand(0).push_back({factor});
            maker.result().push_back({factor});
            continue;
        }
        const int row = maker.factor(FactorKind::pass_through, rows);
        const int trip = maker.factor(rows == 1 ? FactorKind::reduction : FactorKind::need_replication, trips);
        maker.operand(0).push_back(rows == 1 ? DimFactors{trip} : DimFactors{row, trip});
        maker.result().push_back({row});
    }
    return maker.rule();
}

Kernel lower(const LowerContext& context) {
    const size_t dim = shared_dim(context.attributes);
    const i64 here = context.local_operands[0].shape[dim];
    MovePiece piece = whole_piece(0, context.local_results[0].shape);
    if (entries(context.global_operands[0], context.attributes) == 1) {
        piece.in_start[dim] = loop_index(context.attributes) + context.operand_start(0, static_cast<int>(dim)) * -1;
    } else {
        piece.in_start[dim] = loop_index(context.attributes);
        piece.in_stride[dim] = loop_trips(context.attributes);
    }
    Move move;
    move.covers = here % loop_trips(context.attributes) == 0;
    move.pieces.push_back(std::move(piece));
    return move;
}

} // namespace

const OpDef& op_loop_slice() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "loop_slice";
        made.doc = "What the running trip of a loop takes of a value.";
        made.operands = {1, 1};
        made.infer = infer;
        made.rule = rule;
        made.lower = lower;
        made.linear_in = {0};
        made.of_stack = OpDef::OfStack::takes_entry;
        made.internal = true;
        return made;
    }();
    return def;
}

} // namespace shard
