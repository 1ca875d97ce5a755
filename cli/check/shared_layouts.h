// Several models that are checked with one layout.
#pragma once

#include "cli/check/check_task.h"

namespace shard {

// A rule that one of the models uses is of use, though another has none of its axes: W0302 is left where none of those
// that could be planned uses it.
void drop_rules_used_elsewhere(std::vector<Checked>& all);

} // namespace shard
