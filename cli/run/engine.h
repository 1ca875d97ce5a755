// --engine of `run`: who carries the plan out. The emulation is this process with all devices. With MPI each process
// that mpirun started runs the same command with the devices of its rank; the first prints and writes, and all end with
// the largest exit code.
#pragma once

#include "cli/command/command.h"
#include "executor/engine/ranks.h"

#include <functional>

namespace shard {

// The options, after those of `run` that are about threads.
std::vector<OptionDef> with_engine_options(std::vector<OptionDef> options);

// The command on the chosen engine; `ranks` is nullptr in the emulation. Other ranks than the first get streams and
// files that nothing comes out of, and what they say besides is shown at the end. An exit code; E0616, E0618.
using RunOnRanks = std::function<int(Env& env, Ranks* ranks)>;
int run_on_engine(const Arguments& arguments, Env& env, const RunOnRanks& command);

} // namespace shard
