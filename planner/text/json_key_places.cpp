#include "planner/text/json_key_places.h"

#include "plans/base/base.h"
#include "plans/base/embedded.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <vector>

namespace shard {

std::span<const EmbeddedText> embedded_schemas();

namespace {

using Json = nlohmann::ordered_json;

struct Part {
    const Json* node = nullptr;
    std::string path; // "fsdp"; NAME where names are free
};

using Places = std::map<std::string, std::vector<std::string>, std::less<>>; // by key

class KeyFinder {
public:
    KeyFinder(std::string_view file, const Json& schema, Places& places)
        : file_(file), schema_(schema), places_(places) {}

    void run() { // breadth first
        open_.push_back({&schema_, ""});
        for (; !open_.empty(); open_.pop_front()) look_into(open_.front());
    }

private:
    void look_into(const Part& part) {
        const Json& node = *part.node;
        if (node.is_array())
            for (const Json& one : node) open_.push_back({&one, part.path});
        if (!node.is_object()) return;
        if (node.contains("$ref")) {
            const std::string ref = node["$ref"].get<std::string>();
            const Json& shared = schema_["definitions"][ref.substr(ref.rfind('/') + 1)];
            if (seen_.insert(&shared).second) open_.push_back({&shared, part.path});
        }
        const std::string before = part.path.empty() ? "" : part.path + ".";
        if (node.contains("properties"))
            for (const auto& [key, child] : node["properties"].items()) {
                add(key, part.path);
                open_.push_back({&child, before + key});
            }
        if (node.contains("additionalProperties")) open_.push_back({&node["additionalProperties"], before + "NAME"});
        for (const char* inner : {"then", "else", "oneOf", "anyOf", "allOf", "items"})
            if (node.contains(inner)) open_.push_back({&node[inner], part.path});
    }

    void add(const std::string& key, const std::string& path) {
        if (path.find("NAME") != std::string::npos) return; // of a thing of the user's own
        std::string place = path.empty() ? fmt::format("of a {}", file_) : fmt::format("of '{}' in a {}", path, file_);
        std::vector<std::string>& known = places_[key];
        if (std::find(known.begin(), known.end(), place) == known.end()) known.push_back(std::move(place));
    }

    std::string_view file_;
    const Json& schema_;
    Places& places_;
    std::deque<Part> open_;
    std::set<const Json*> seen_; // definitions, which may refer to themselves
};

} // namespace

std::span<const std::string> places_of_key(std::string_view key) {
    static const Places all = [] {
        Places places;
        for (const std::string_view file : {"model", "layout", "policy"})
            for (const EmbeddedText& embedded : embedded_schemas())
                if (embedded.name == fmt::format("{}.schema", file))
                    KeyFinder(file, Json::parse(embedded.text), places).run();
        return places;
    }();
    const Places::const_iterator found = all.find(key);
    return found == all.end() ? std::span<const std::string>() : found->second;
}

} // namespace shard
