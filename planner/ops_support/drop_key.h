// Keys of dropout: of the op of that name, and of attention that drops weights.
#pragma once

#include "planner/graph/builder.h"

namespace shard {

// `key`, which is the written one or the model's root, `place` where none is written, and `bits`. nullopt after
// reporting: `example` is how the op is written with a key.
std::optional<Attributes> drop_key(Builder& builder, const Attributes& attributes, std::string_view op,
                                   std::string_view example, Span span);

// Whether it is a rate from 0 up to, not including, 1; reports E0226.
bool check_rate(double rate, std::string_view op, Span span, Diagnostics& diagnostics);

} // namespace shard
