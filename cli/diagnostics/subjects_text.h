// Subjects for people:
//
//     error[E0203]: unknown op 'rleu'
//       --> model.yaml:12:9
//        |
//     12 |   - a: {rleu: h}
//        |         ^^^^
//        = help: did you mean 'relu'?
//
// Of several subjects, a line says whose it is. A line of figures per subject that has a name follows: what was checked
// even where nothing is wrong. On a terminal, which shows colour, texts are as wide as it is.
#pragma once

#include "cli/diagnostics/subjects.h"
#include "cli/terminal/paint.h"

namespace shard {

std::string findings_text(std::span<const Subject> subjects, const Paint& paint); // without the lines of figures
std::string subjects_text(std::span<const Subject> subjects, const Paint& paint);

} // namespace shard
