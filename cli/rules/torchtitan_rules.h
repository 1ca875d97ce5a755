// The [parallelism] of a torchtitan job's TOML, with what its plans for Llama-like models do with the degrees.
#pragma once

#include "cli/rules/foreign_rules.h"

namespace shard {

std::optional<ForeignRules> read_torchtitan(const Sources& sources, int file, Diagnostics& diagnostics);

} // namespace shard
