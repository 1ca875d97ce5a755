// Collectives as they are written in the text of a graph: "all_gather over data (dim 0)".
#pragma once

#include "plans/collective/collective.h"

namespace shard {

// The inverse of text() in plans/collective/collective.h, as far as the words say it: a reduction is a sum, and moves
// take all axes, or one each. nullopt if these are not the words of a collective.
std::optional<Collective> parse_collective(const Mesh& mesh, std::string_view words);

} // namespace shard
