// Why an array is split as it is, and the ways from one sharding to another with their prices, folded up.
#pragma once

#include "cli/html/panel.h"

namespace shard {

void write_why(Markup& out, const PageData& data, const TensorReport& tensor);

} // namespace shard
