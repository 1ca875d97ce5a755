// By how much a figure may be worse than its baseline: "3%", of every figure, or "wire_bytes=1%,step_seconds=5%". A
// figure is named by its key in the JSON payloads, or the beginning of it that no other has.
#pragma once

#include "cli/diagnostics/figures.h"
#include "planner/text/yaml.h"

#include <optional>

namespace shard {

using Tolerance = std::array<double, figure_count>; // by figure, as a share: 0.03

// What is wrong with a text, and what to write instead.
struct ToleranceMistake {
    std::string message, help;
};

// Of figures that are not named: 0, or what the text says of all ("3%,step_seconds=5%").
std::optional<Tolerance> parse_tolerance(std::string_view text, ToleranceMistake& mistake);
// In a configuration: 3%, or a map of figures. Reports E0712.
std::optional<Tolerance> read_tolerance(const Yaml& yaml, Diagnostics& diagnostics);

} // namespace shard
