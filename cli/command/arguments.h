// The command line: the only place that knows the library that parses it.
#pragma once

#include "cli/command/command.h"

namespace shard {

// Parses and runs; the exit code of the process. Internal errors are caught here and become code 3, memory that
// is refused E0601.
int run_cli(const std::vector<std::string>& arguments, Env& env);

} // namespace shard
