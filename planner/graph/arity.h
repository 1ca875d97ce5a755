// How many operands an op or a composite takes.
#pragma once

#include "planner/graph/op_def.h"

namespace shard {

// "1 operand", "2 to 3 operands", "1 or more operands".
std::string arity_text(const OpDef::Arity& arity);

// Reports E0221 at `span` if `given` operands are too few or too many, with the example of `doc` (OpDef::doc) as help.
bool check_arity(std::string_view op, const OpDef::Arity& arity, size_t given, std::string_view doc, Span span,
                 Diagnostics& diagnostics);

} // namespace shard
