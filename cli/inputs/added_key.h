// A key that a file of YAML lacks, put into its text where no place of what is written there moves to another line:
//
//     fsdp: {axis: data}     fsdp.min_size = 64     fsdp: {axis: data, min_size: 64}
//     (nothing)              fsdp.axis = data       fsdp: {axis: data}, at the end
#pragma once

#include "planner/text/yaml.h"

#include <optional>
#include <string>

namespace shard {

// The text with the key of this path, of which the first part that is not written is added; nullopt where that has no
// place: in what is no map, or in a map without braces that does not end the file. `yaml` is what the text says.
// Whether the new text says so is for the caller to see: a value may hold anything.
std::optional<std::string> with_added_key(std::string_view text, const Yaml& yaml, std::string_view path,
                                          std::string_view value);

} // namespace shard
