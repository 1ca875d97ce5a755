// Subjects for people:
//
//     error[E0203]: unknown op 'rleu'
//       --> model.yaml:12:9
//        |
//     12 |   - a: {rleu: h}
//        |         ^^^^
//        = help: did you mean 'relu'?
//
// A line of figures per subject that has a name follows: what was checked even where nothing is wrong.
#pragma once

#include "cli/diagnostics/subjects.h"

namespace shard {

std::string subjects_text(std::span<const Subject> subjects, bool color);

} // namespace shard
