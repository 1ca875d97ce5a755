// Everything that has a name and a doc: ops, composites, collectives, hardware, codes, commands, formats, initializers,
// ... `list` shows a registry, `explain NAME` finds an item in any of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shard {

struct Item {
    std::string name;
    std::string summary;                                             // one line
    std::string doc;                                                 // the whole text, without a final newline
    std::vector<std::pair<std::string, std::string>> arguments = {}; // what it takes: name and doc
};

struct Registry {
    std::string_view name; // "ops"
    std::string_view one;  // "op"
    std::string_view doc;
    std::vector<Item> (*items)() = nullptr; // in the registry's order
    bool is_text = false;                   // docs are files, shown as they are
};

// The first sentence of a doc, or the first line if that is shorter, without the stop.
std::string summary_of(std::string_view doc);

const std::vector<Registry>& all_registries();
// nullptr: no such name.
const Registry* find_registry(std::string_view name);

} // namespace shard
