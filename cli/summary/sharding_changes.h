// The arrays whose shardings differ between plans, as rows of those that change alike.
#pragma once

#include "cli/summary/detail.h"

#include <string>
#include <vector>

namespace shard {

struct ShardingChange {
    std::string name, role;
    std::vector<std::string> shardings; // one for each plan; "absent" where it has no such array
    std::string first = {};             // of a row of several, the first that lies so; empty if they lie as others
    std::vector<std::string> dims = {}; // what its dims are called: those of a row are alike in that too
};

// Layers are one row; unless Detail::each, so are those of a module that change alike, and states and gradients that lie
// as their parameters do in every plan: "mu, nu of the 20 params above".
std::vector<ShardingChange> alike_changes(const std::vector<ShardingChange>& changes, Detail detail);

} // namespace shard
