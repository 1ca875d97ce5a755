// Typed access to a YAML tree; each reports what was expected and what was found, and returns nullopt.
#pragma once

#include "planner/text/yaml.h"

namespace shard {

// Typed access; each reports what was expected and what was found, and returns nullopt.
std::optional<i64> read_int(const Yaml& yaml, std::string_view what, Diagnostics& diagnostics);
std::optional<double> read_double(const Yaml& yaml, std::string_view what, Diagnostics& diagnostics); // finite
// What an element of a value may be: .inf, -.inf and .nan too.
std::optional<double> read_element(const Yaml& yaml, std::string_view what, Diagnostics& diagnostics);
std::optional<bool> read_bool(const Yaml& yaml, std::string_view what, Diagnostics& diagnostics);
// A scalar in quotes, or one that is neither a number nor true or false.
std::optional<std::string> read_string(const Yaml& yaml, std::string_view what, Diagnostics& diagnostics);
// Reports keys of a map that are not in `known`, with "did you mean". False if yaml is not a map.
bool check_keys(const Yaml& yaml, const std::vector<std::string_view>& known, std::string_view what,
                Diagnostics& diagnostics);

} // namespace shard
