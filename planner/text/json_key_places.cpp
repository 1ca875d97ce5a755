#include "planner/text/json_key_places.h"

#include "planner/text/embedded_texts.h"
#include "planner/text/json_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace shard {

namespace {

using Places = std::map<std::string, std::vector<std::string>, std::less<>>; // by key

// "of 'fsdp' in a layout" of the path "layout.fsdp".
std::string place_text(std::string_view file, const std::string& path) {
    if (path == file) return fmt::format("of a {}", file);
    return fmt::format("of '{}' in a {}", path.substr(file.size() + 1), file);
}

void add_places(std::string_view file, const SchemaNode& schema, Places& places) {
    visit_schema(schema, std::string(file), [&](const SchemaNode& node, const std::string& path) {
        if (!node.is_object() || !node.contains("properties")) return;
        if (path.find("NAME") != std::string::npos) return; // of a thing of the user's own
        for (const auto& [key, child] : node["properties"].items()) {
            std::vector<std::string>& known = places[key];
            std::string place = place_text(file, path);
            if (std::find(known.begin(), known.end(), place) == known.end()) known.push_back(std::move(place));
        }
    });
}

} // namespace

std::span<const std::string> places_of_key(std::string_view key) {
    static const Places all = [] {
        Places places;
        for (const std::string_view file : {"model", "layout", "policy"})
            for (const EmbeddedText& embedded : embedded_schemas())
                if (embedded.name == fmt::format("{}.schema", file))
                    add_places(file, SchemaNode::parse(embedded.text), places);
        return places;
    }();
    const Places::const_iterator found = all.find(key);
    return found == all.end() ? std::span<const std::string>() : found->second;
}

} // namespace shard
