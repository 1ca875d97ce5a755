// A stack in which the running trip of a loop has written its entries: the inverse of loop_slice. The stack is
// overwritten where it lies. Where it is split over devices, those that do not hold the entry write nothing.
#include "planner/graph/loop_index.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/move.h"
#include "planner/ops_support/rule_maker.h"

namespace shard {

namespace {

InferResult infer(const InferContext& context) { return InferResult{{context.operands[0]}}; }

IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType>, const Attributes&) {
    RuleMaker maker(2, 1);
    for (size_t d = 0; d < operands[0].shape.size(); ++d) {
        const int factor = maker.factor(FactorKind::pass_through, operands[0].shape[d]);
        maker.operand(0).push_back({factor});
        maker.operand(1).push_back({d == 0 ? maker.factor(FactorKind::pass_through, 1) : factor});
        maker.result().push_back({factor});
    }
    return maker.rule();
}

Kernel lower(const LowerContext& context) {
    MovePiece entry = whole_piece(1, context.local_operands[1].shape);
    entry.out_start[0] = loop_index(context.attributes) + context.operand_start(0, 0) * -1;
    Move move;
    move.pieces = {whole_piece(0, context.local_operands[0].shape), std::move(entry)};
    return move;
}

} // namespace

const OpDef& op_loop_update() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "loop_update";
        made.doc = "A stack with the entry of the running trip of a loop.";
        made.operands = {2, 2};
        made.infer = infer;
        made.rule = rule;
        made.lower = lower;
        made.of_stack = OpDef::OfStack::writes_entry;
        made.internal = true;
        return made;
    }();
    return def;
}

} // namespace shard
