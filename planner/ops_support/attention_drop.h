// Attention that drops some of its weights. As the user writes it (`dropout`, a rate), it becomes the same op with all
// that its bits depend on, which the ops of its gradient and of its parts have too, so that they drop the same: `bits`,
// and of a key that is written `counted`, with the count of steps as an operand, `key` and `place`; or as operands the
// two words of a key that is computed (draw.h).
#pragma once

#include "planner/graph/op_def.h"

namespace shard {

// Operands behind those that are known by their types, all of them whole numbers; -1: not there.
struct AttentionScalars {
    int start = -1;
    int key = -1;   // u32 (2)
    int words = -1; // two, in place of it
    int count = -1; // of steps, if it is `counted`
    int first = -1; // of four: where batch, heads, queries and keys begin in what is drawn, of the shape `drawn`

    bool is_computed() const { return key >= 0 || words >= 0; }
    int drop() const { return key >= 0 ? key : words >= 0 ? words : count; } // the first that is of dropout
};
AttentionScalars attention_scalars(AttendPart part, std::span<const TensorType> operands, const Attributes& attributes);

std::vector<AttributeDef> drop_attributes(AttendPart part);
Attributes without_drop(const Attributes& attributes);

// Reports E0223 and E0226. Of operands that fit.
bool check_drop(AttendPart part, const InferContext& context);
// What is dropped; nullopt if nothing is.
std::optional<Generate> weights_kept(AttendPart part, const LowerContext& context);

// OpDef::splits and expand of `attention`: where it drops weights in this step, it says by which bits; else it drops none.
bool drops_without_bits(std::span<const TensorType> operands, const Attributes& attributes);
std::optional<ValueId> with_bits(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes);

} // namespace shard
