// Which ops may propagate when. Propagation runs to a fixpoint once per priority, each adding directions to those
// before it, so that cheap and certain moves (through pointwise chains) are made before those that cost a reshard if
// they turn out wrong.
#pragma once

#include "planner/graph/op_def.h"
#include "planner/propagate/factor_propagation.h"

#include <array>

namespace shard {

// What the table asks about a node.
struct OpTraits {
    OpDef::Class op_class = OpDef::Class::other;
    bool shared_operand = false; // an operand that is not a scalar has several uses
    bool operator==(const OpTraits&) const = default;
};

using DirectionOf = Direction (*)(OpTraits, FactorKind);

// Every dim of the result is one of an operand.
constexpr bool passes_shape_through(OpTraits op) {
    return op.op_class == OpDef::Class::pointwise || op.op_class == OpDef::Class::reshape_like;
}
// A value that is read once has one opinion to follow; with several readers a conflict would be carried along.
constexpr Direction unshared_chains(OpTraits op, FactorKind) {
    return passes_shape_through(op) && !op.shared_operand ? Direction::both : Direction::none;
}
constexpr Direction chains(OpTraits op, FactorKind) {
    return passes_shape_through(op) ? Direction::both : Direction::none;
}
// A broadcast's input is small: it follows its result.
constexpr Direction no_broadcast_forward(OpTraits op, FactorKind) {
    return op.op_class == OpDef::Class::broadcast ? Direction::backward : Direction::both;
}
// Reductions would make partial sums: only when nothing else says how to shard.
constexpr Direction pass_through_factors(OpTraits op, FactorKind kind) {
    return kind == FactorKind::pass_through ? no_broadcast_forward(op, kind) : Direction::none;
}
constexpr Direction everything(OpTraits, FactorKind) { return Direction::both; }

constexpr std::array<DirectionOf, 5> op_priorities = {unshared_chains, chains, pass_through_factors,
                                                      no_broadcast_forward, everything};

// The union of the table up to `priority`; none for a blocked factor.
constexpr Direction direction_at(int priority, OpTraits op, const Factor& factor) {
    Direction direction = Direction::none;
    if (factor.blocked) return direction;
    for (int p = 0; p <= priority; ++p) direction = direction | op_priorities[p](op, factor.kind);
    return direction;
}

} // namespace shard
