// A YAML file in the one style of `shardc fmt`. What it means and every comment stay: what was written in brackets
// stays in brackets, blocks stay blocks, scalars are spelled as they were.
//
//     axes:   {batch:8 , embed: 4}  #sizes        axes: {batch: 8, embed: 4}  #sizes
//     graph:                                      graph:
//     - h: {dot: [x,w1]}                            - h: {dot: [x, w1]}
//
// Blocks are indented by 2 and so are lists in maps; one blank line at most. In brackets the line breaks between items
// stay, and one is added where a line passes style_width; what continues stands behind its bracket. Keys at the top of a
// file stand in the order of its schema.
#pragma once

#include "planner/text/yaml.h"

#include <optional>
#include <string>

namespace shard {

// nullopt, with diagnostics, of what is no YAML. The result is read again and compared: an internal error if it is not
// the same tree with the same comments.
std::optional<std::string> styled_yaml(const Sources& sources, int file, Diagnostics& diagnostics);

} // namespace shard
