// `check --fix`: what `check --format patch` prints, written into the files.
#pragma once

#include "cli/diagnostics/subjects.h"
#include "cli/terminal/env.h"

namespace shard {

struct Mending {
    bool changed = false; // a file, so that what was found of it is old
    bool written = true;  // all that was to be; else why not was said (E0703)
};

// Says on stderr what was mended. A file that is not any more as it was read stays as it is.
Mending mend(Env& env, std::span<const Subject> subjects);

} // namespace shard
