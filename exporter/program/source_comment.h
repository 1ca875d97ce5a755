// The line of the user's file that a step comes from, above what is written for the step.
//
//         # model.yaml:8  - a: {relu: h}
#pragma once

#include "plans/plan/plan.h"

namespace shard {

// A whole line, with its end: after `margin`, which holds the language's sign of a comment, cut to 88 columns.
std::string source_comment(const Plan& plan, const SourceRef& source, std::string_view margin);

} // namespace shard
