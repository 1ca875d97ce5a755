// Budgets that CI enforces: the layout's `policy`, or a policy file of the same keys.
#pragma once

#include "planner/model/policy.h"

namespace shard {

// Reports and leaves out what is wrong.
PolicyDecl read_policy_map(const Yaml& yaml, Diagnostics& diagnostics);
// Of a policy file (`check --policy`), which has the same keys. Nothing if anything is wrong.
std::optional<PolicyDecl> read_policy(const Sources& sources, int file, Diagnostics& diagnostics);

} // namespace shard
