// What diagnostics are about, for formats that show many: `check` has one subject per layout. The same diagnostic of
// two subjects (a mistake in the model they share) is shown once, except where every subject is a test of its own
// (junit).
#pragma once

#include "cli/diagnostics/figures.h"
#include "cli/terminal/repository.h"
#include "plans/diagnostics/diagnostic.h"

#include <optional>
#include <span>

namespace shard {

// Of what figures are: what a baseline finds them again by, wherever it is asked from. Paths are as written.
struct CheckedAs {
    std::string model, layout, mode;
    auto operator<=>(const CheckedAs&) const = default;
};

struct Subject {
    std::string name;    // "layout.yaml"; of several models "model.yaml + layout.yaml"
    std::string summary; // the figures, one line; empty if there is no plan
    const Sources* sources = nullptr;
    std::vector<Diagnostic> diagnostics;
    std::string model = {}, layout = {}; // the files, as `sources` call them
    std::optional<Figures> figures = {}; // absent if there is no plan
    bool as_written = true;              // texts are those of the files, without other values (--set)
    CheckedAs as = {};
};

// A diagnostic with the texts its spans point into, and whose it is.
struct Placed {
    const Diagnostic* diagnostic = nullptr;
    const Sources* sources = nullptr;
    std::vector<const Subject*> subjects = {}; // all that have it and a name, in order

    // The primary place; nullptr if there is none.
    const Span* place() const;
    const std::string& file() const { return sources->name(place()->file); }
    // Where the place is, or else the layout that it is about; empty if that is not known either.
    std::string any_file() const;
    std::vector<std::string> names() const; // of the subjects
};

// "a.yaml", "a.yaml, b.yaml and 3 more"; "all 20 layouts" where it is all of `count`, and those are more than one.
std::string names_text(const Placed& placed, size_t count);
size_t named_count(std::span<const Subject> subjects);

// All diagnostics in order, each once.
std::vector<Placed> flatten(std::span<const Subject> subjects);

// 2 if an error is there, else 1 if a finding is, else 0; the worst of all subjects.
int exit_code(std::span<const Subject> subjects);

// Whether a warning is among its diagnostics: for people a layout that passes with one is no "ok".
bool warns(const Subject& subject);

// A stable hash of what is wrong and where, that survives edits elsewhere in the file and other figures: code, file as
// the repository calls it, the text of the line, the message without its figures, and of a finding of a policy the first
// layout that has it. 40 hex digits.
std::string fingerprint(const Placed& placed, const Repository& repository);

// What `check` prints.
struct CheckPayload {
    std::span<const Subject> subjects;
    Repository repository = {};
};

} // namespace shard
