// What losses and metrics over classes share: logits (..., classes) and integer labels (...).
#pragma once

#include "planner/graph/chain.h"

namespace shard {

// E0224 unless the labels are whole numbers; E0223 unless there is one for each position of the logits.
bool check_labels(Builder& builder, ValueId logits, ValueId labels, std::string_view composite, Span span);
// Of the logits' shape: true at the label's class.
ValueId is_label(Chain& chain, ValueId logits, ValueId labels);
// The numbers 0, 1, ... along the last dim of a value's shape.
ValueId classes_of(Chain& chain, ValueId value, DType dtype);

} // namespace shard
