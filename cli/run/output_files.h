// --output and --print of `run`: which results are written to .npy files, and which are printed.
#pragma once

#include "cli/command/command.h"
#include "executor/run/run.h"

namespace shard {

// Before the run, so that a slip of the pen does not cost one: what is named is there (E0706), no file would be
// written that another option reads or writes, or into a checkpoint that --save replaces (E0707), and the disk has room
// for the outputs (E0607).
void check_output_files(const CommandDef& command, const Arguments& arguments, const Plan& plan, Env& env,
                        Diagnostics& diagnostics);
void check_printed(const Arguments& arguments, const Plan& plan, Diagnostics& diagnostics);

// --output DIR writes every output as DIR/NAME.npy, --output NAME=FILE one of them. E0703 for what cannot be written.
void write_output_files(const Arguments& arguments, const RunResult& result, Env& env, Diagnostics& diagnostics);

} // namespace shard
