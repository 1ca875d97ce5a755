// Everything that has a name and a doc: ops, composites, collectives, hardware, codes, commands, formats, initializers.
// `list` shows a registry, `explain NAME` finds an item in any of them.
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
};

const std::vector<Registry>& all_registries();
const Registry* find_registry(std::string_view name);

// The doc of an item as a terminal shows it, with its arguments.
std::string item_text(const Registry& registry, const Item& item);
// {name, summary, doc, arguments: {...}}
std::string item_json(const Item& item);

// Text broken into lines of at most `width` columns at spaces; lines that begin with a space are examples and stay as
// they are.
std::string wrapped(std::string_view text, size_t width);

} // namespace shard
