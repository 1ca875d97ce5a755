// Hardware profiles: built in, or YAML files of the user.
#pragma once

#include "plans/collective/hardware.h"
#include "plans/diagnostics/diagnostic.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shard {

// Built-in profile by name, or a YAML file relative to the layout; E03xx if neither. A file that `sources` already hold
// is not read again: a plan file brings its own. What a profile says of `cores` it says of one of so many devices.
std::optional<Hardware> load_hardware(std::string_view name, Span span, Sources& sources, Diagnostics& diagnostics,
                                      i64 devices = 1);

std::vector<std::string> builtin_hardware(); // names of planner/hardware/*.yaml, sorted
// Every mesh axis uses a link that the profile has; E0402. `spans` are those of the axes.
bool check_links(const Mesh& mesh, std::span<const Span> spans, const Hardware& hardware, Diagnostics& diagnostics);
// Where in `sources` that file is; -1 if it was not read, as built-in profiles are not.
int find_hardware(std::string_view name, Span span, const Sources& sources);

} // namespace shard
