// The places that notes name at their end, as those of policies do: "all_gather over model of a: ... (model.yaml:10)".
// Formats that show a place where it is give them one of their own.
#pragma once

#include "cli/diagnostics/subjects.h"

namespace shard {

// In the order of the notes, each with the note but for the place: the line of the file, without its indentation.
std::vector<Label> noted_places(const Placed& placed);

} // namespace shard
