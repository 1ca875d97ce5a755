// A YAML document as a plain checked tree with places. The only code that sees yaml-cpp is yaml.cpp, which makes this
// tree and reports everything that is wrong with the text itself: syntax, duplicate keys, merge keys, depth, aliases,
// size, binary content.
#pragma once

#include "plans/diagnostic.h"
#include "plans/type.h"

#include <utility>
#include <variant>

namespace shard {

struct Yaml;
using YamlList = std::vector<Yaml>;
struct YamlEntry;
using YamlMap = std::vector<YamlEntry>; // in the order written

// A scalar keeps its text and whether it was quoted: what it means is for the reader that knows which type is wanted.
struct YamlScalar {
    std::string text;
    bool quoted = false;
};

struct Yaml {
    Span span;
    std::variant<std::monostate, YamlScalar, YamlList, YamlMap> value; // monostate: ~, null or nothing

    bool is_null() const { return std::holds_alternative<std::monostate>(value); }
    const YamlScalar* scalar() const { return std::get_if<YamlScalar>(&value); }
    const YamlList* list() const { return std::get_if<YamlList>(&value); }
    const YamlMap* map() const { return std::get_if<YamlMap>(&value); }
    const Yaml* find(std::string_view key) const; // in a map; nullptr if absent or not a map
    std::string_view kind() const;                // "a string", "a list", ... for messages
};

struct YamlEntry {
    std::string key;
    Span key_span;
    Yaml value;
};

// Parses one document of sources.text(file). nullopt (and diagnostics E01xx) if it cannot be used.
std::optional<Yaml> parse_yaml(const Sources& sources, int file, Diagnostics& diagnostics);

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
