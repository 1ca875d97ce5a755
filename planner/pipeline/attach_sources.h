// What a plan was made of travels inside it: the texts, and what was said about them.
#pragma once

#include "plans/plan/plan.h"

#include <span>

namespace shard {

// Embeds the texts of `files` (model, layout, and the hardware profile if it is a file) and the diagnostics, whose
// places then are indices into plan.sources.
void attach_sources(Plan& plan, const Sources& sources, std::span<const int> files, const Diagnostics& diagnostics);

} // namespace shard
