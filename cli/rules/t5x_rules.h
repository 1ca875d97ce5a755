// A gin file of T5X, as far as it speaks of partitioning: num_partitions or model_parallel_submesh, and logical_axis_rules.
#pragma once

#include "cli/rules/foreign_rules.h"

namespace shard {

std::optional<ForeignRules> read_t5x(const Sources& sources, int file, Diagnostics& diagnostics);

} // namespace shard
