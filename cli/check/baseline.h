// What figures were when they were accepted: a plan file, or what `check --format json` printed of many layouts.
#pragma once

#include "cli/check/tolerance.h"
#include "cli/diagnostics/subjects.h"

#include <map>
#include <memory>

namespace shard {

struct Baseline {
    std::string path; // for people
    std::map<CheckedAs, Figures> figures = {};
    bool is_plan = false;
};

// The file's text is in `sources`. E0711 for a file that is neither, and what is wrong with one that is a plan.
std::optional<Baseline> read_baseline(const Sources& sources, int file, Diagnostics& diagnostics);

// At `place`, the beginning of the subject's layout: P0107 for the figures that are worse than the baseline's by more
// than is tolerated, all in one, W0701 if the baseline says nothing of the subject, which has figures, in its mode. A
// plan is compared with the only one that is checked (`alone`) wherever the files of either lie, as long as they are
// called alike. `plan` is the command that plans the subject.
void compare_with(const Baseline& baseline, const Tolerance& tolerance, const Subject& subject, Span place, bool alone,
                  const std::string& plan, Diagnostics& diagnostics);

} // namespace shard
