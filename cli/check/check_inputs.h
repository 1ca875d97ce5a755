// What is to be checked, from the words of the command line or from shardc.yaml. Every file is read once.
#pragma once

#include "cli/check/check_task.h"

namespace shard {

struct CheckInputs {
    std::vector<CheckTask> tasks;
    std::vector<Checked> problems; // files that say wrongly what is to be checked; then there are no tasks
};

// MODEL LAYOUT... with --policy, --mode, --set, --strict, --baseline and --tolerance.
CheckInputs inputs_of_words(Env& env, const Arguments& arguments);
// --config FILE, or the nearest shardc.yaml; the same options stand in the place of what it says, --policy and --strict
// come on top.
CheckInputs inputs_of_config(Env& env, const Arguments& arguments);

} // namespace shard
