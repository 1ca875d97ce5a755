// A YAML document as a plain checked tree with places. The only code that sees yaml-cpp is yaml.cpp, which makes this
// tree and reports everything that is wrong with the text itself: syntax, duplicate keys, merge keys, depth, aliases,
// size, binary content.
#pragma once

#include "plans/diagnostics/diagnostic.h"
#include "plans/sharding/type.h"

#include <memory>
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

// The one document of sources.text(file), parsed once: a text that is read again, in these sources or a copy, gives the
// same tree. Those of large texts are not kept. nullptr (and diagnostics E01xx) if it cannot be used.
using YamlDocument = std::shared_ptr<const Yaml>;
YamlDocument parse_yaml(const Sources& sources, int file, Diagnostics& diagnostics);

} // namespace shard
