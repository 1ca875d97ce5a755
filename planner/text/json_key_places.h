// Where keys may stand in models, layouts and policies, as the JSON Schemas say it (schemas/*.schema.json): for who has
// written one where it is not known.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace shard {

// In words, the nearest to the root of its file first. Not those of things that users name, an axis of a mesh for one.
//
//     min_size        {"of 'fsdp' in a layout"}
//     mesh            {"of a layout"}
std::span<const std::string> places_of_key(std::string_view key);

} // namespace shard
