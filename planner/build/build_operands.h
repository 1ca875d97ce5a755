// What the operands of an entry are.
#pragma once

#include "planner/build/build_scope.h"

namespace shard {

// The values of an entry's operands. A number becomes a constant of the other operands' element type, or a whole number
// where the op starts something at it; nullopt after reporting, or silently if an operand is poisoned. `axes` are the
// model's, which are no values; `op`: nullptr for the call of a module.
std::optional<std::vector<ValueId>> resolve_operands(Builder& builder, const Scope& scope,
                                                     const std::vector<Name>& names, std::span<const AxisDecl> axes,
                                                     const OpDef* op = nullptr);

// A floating-point value of 32 bits or fewer as another such type: cast, or itself.
ValueId with_type(Builder& builder, ValueId id, DType dtype);

} // namespace shard
