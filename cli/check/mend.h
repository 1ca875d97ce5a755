// `check --fix`: what `check --format patch` prints, round after round, tried before it is written: an edit whose line
// has an error then that nobody had before is none that mends.
#pragma once

#include "cli/diagnostics/subjects.h"
#include "cli/terminal/env.h"

#include <functional>

namespace shard {

// What was found, and what the subjects point into.
struct Judged {
    std::shared_ptr<const void> held;
    std::vector<Subject> subjects;
};

// Checks again, of other files.
using Judge = std::function<Judged(Env&)>;

struct Mending {
    bool changed = false; // a file, so that what was found of it is old
    bool written = true;  // all that was to be; else why not was said (E0703)
};

// Says on stderr what was mended. A file that is not any more as it was read stays as it is.
Mending mend(Env& env, const Judged& found, const Judge& judge);

} // namespace shard
