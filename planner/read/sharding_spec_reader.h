// Shardings and rules as both files write them.
#pragma once

#include "planner/model/model.h"

namespace shard {

// Shared with the layout reader.
std::optional<ShardingSpec> read_sharding_spec(const Yaml& yaml, Diagnostics& diagnostics);
// E0113 of "P(data, None)", with the list that says the same.
void report_partition_spec(std::string_view written, Span span, Diagnostics& diagnostics);
std::optional<AxisRule> read_axis_rule(const Yaml& yaml, Diagnostics& diagnostics); // a map of one entry
std::optional<std::vector<AxisRule>> read_axis_rules(const Yaml& yaml, Diagnostics& diagnostics);

} // namespace shard
