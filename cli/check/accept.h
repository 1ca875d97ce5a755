// `check --accept`: the figures of now become those that were accepted. A baseline holds what was checked with it, in the
// order of the files' names, and nothing that a review of the change would stumble over: neither findings nor summaries.
#pragma once

#include "cli/check/check_task.h"

namespace shard {

// Writes the baseline of each task that has one, and says so on stderr; `all` are their results, in the same order. Of a
// file of a configuration (`whole`) what is not checked any more is gone, else it stays as it was. Nothing is written
// over a file that is no baseline (E0711), or a plan; or where a layout could not be planned. False if that happened.
bool accept(Env& env, const std::vector<CheckTask>& tasks, const std::vector<Checked>& all, bool whole);

} // namespace shard
