#include "cli/style/json_key_order.h"

#include "planner/text/embedded_texts.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

namespace shard {

namespace {

using Places = std::map<std::string, size_t, std::less<>>;

// Where the keys of a kind stand.
Places read_places(const EmbeddedText& schema) {
    Places places;
    const nlohmann::ordered_json parsed = nlohmann::ordered_json::parse(schema.text);
    if (const auto properties = parsed.find("properties"); properties != parsed.end())
        for (const auto& [key, value] : properties->items()) places.emplace(key, places.size());
    return places;
}

// By kind; read once, since fmt asks for every file.
const Places& places_of(std::string_view kind) {
    static const std::map<std::string, Places, std::less<>> by_kind = [] {
        std::map<std::string, Places, std::less<>> all;
        for (const EmbeddedText& schema : embedded_schemas())
            all.emplace(schema.name.substr(0, schema.name.find('.')), read_places(schema));
        return all;
    }();
    static const Places none;
    const auto found = by_kind.find(kind);
    return found == by_kind.end() ? none : found->second;
}

} // namespace

std::vector<size_t> key_order(const std::vector<std::string_view>& keys) {
    std::vector<size_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0);
    for (const std::string_view kind : {"model", "layout", "config", "policy", "modules", "hardware"}) {
        const Places& places = places_of(kind);
        const auto is_known = [&](std::string_view key) { return places.contains(key); };
        if (!std::all_of(keys.begin(), keys.end(), is_known)) continue;
        std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
            return places.find(keys[a])->second < places.find(keys[b])->second;
        });
        return order;
    }
    return order;
}

bool has_known_key(const std::vector<std::string_view>& keys) {
    for (const std::string_view kind :
         {"model", "layout", "config", "policy", "modules", "hardware", "checkpoint_names"}) {
        const Places& places = places_of(kind);
        if (std::any_of(keys.begin(), keys.end(), [&](std::string_view key) { return places.contains(key); }))
            return true;
    }
    return false;
}

} // namespace shard
