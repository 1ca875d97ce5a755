// softmax_cross_entropy, as optax's with integer labels, or a log_softmax of which the label's class is taken; of each
// position, or their mean. Where a label is no class the program's loss is NaN.
#pragma once

#include "importer/shape/composite.h"

namespace shard {

std::vector<CompositeForm> cross_entropy_forms();

} // namespace shard
