// What the process says to whoever started it.
#pragma once

namespace shard {

enum ExitCode {
    exit_clean = 0,
    exit_findings = 1,
    exit_usage = 2,
    exit_internal = 3,
    // As a shell says which signal ended a command; here it ended orderly, but early.
    exit_hung_up = 129,     // SIGHUP
    exit_interrupted = 130, // SIGINT, Ctrl-C
    exit_broken_pipe = 141, // nobody read on, as in `shardc ... | head -1`
    exit_terminated = 143,  // SIGTERM
};

} // namespace shard
