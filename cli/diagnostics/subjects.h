// What diagnostics are about, for formats that show many: `check` has one subject per layout. The same diagnostic of
// two subjects (a mistake in the model they share) is shown once, except where every subject is a test of its own
// (junit).
#pragma once

#include "plans/diagnostics/diagnostic.h"

#include <span>

namespace shard {

struct Subject {
    std::string name;    // "model.yaml + layout.yaml"
    std::string summary; // the figures, one line; empty if there is no plan
    const Sources* sources = nullptr;
    std::vector<Diagnostic> diagnostics;
};

// A diagnostic with the texts its spans point into.
struct Placed {
    const Diagnostic* diagnostic = nullptr;
    const Sources* sources = nullptr;

    // The primary place; nullptr if there is none.
    const Span* place() const;
    const std::string& file() const { return sources->name(place()->file); }
};

// All diagnostics in order, each once.
std::vector<Placed> flatten(std::span<const Subject> subjects);

// 2 if an error is there, else 1 if a finding is, else 0; the worst of all subjects.
int exit_code(std::span<const Subject> subjects);

// A stable hash of what is wrong and where, that survives edits elsewhere in the file: code, file, the text of the line
// and the message. 40 hex digits.
std::string fingerprint(const Placed& placed);

} // namespace shard
