// What is wrong with how a line of block YAML is indented, where yaml-cpp says no more than that something has no end.
#pragma once

#include "planner/text/yaml_text.h"

#include <optional>
#include <string>

namespace shard {

struct MisfitLine {
    Span place = {}; // where the line begins
    std::string message, help;
};

// The line at `offset` by the columns in which the lines above it begin; nullopt if it fits them.
std::optional<MisfitLine> misfit_of_line(const TextPlaces& places, size_t offset);

} // namespace shard
