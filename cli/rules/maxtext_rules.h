// MaxText's base.yml, or a config that has its keys: mesh_axes, logical_axis_rules and degrees of parallelism.
#pragma once

#include "cli/rules/foreign_rules.h"

namespace shard {

std::optional<ForeignRules> read_maxtext(const Sources& sources, int file, Diagnostics& diagnostics);
// "ici_tensor_parallelism=4", as MaxText's command line has it; false after E0701.
bool set_degrees(ForeignRules& rules, const std::vector<std::string>& settings, Diagnostics& diagnostics);

} // namespace shard
