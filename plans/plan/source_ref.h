// Places in the user's files as reports name them.
#pragma once

#include "plans/plan/report.h"

namespace shard {

// Empty of a place that is not known, or not in these files.
SourceRef source_ref(const Sources& sources, const Span& span);
// "model.yaml:6"; empty of an empty one.
std::string text(const SourceRef& source);

} // namespace shard
