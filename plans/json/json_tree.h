// A JSON document as a plain tree: what is read is checked once, here, whatever the bytes are. The only code that sees
// the JSON library on the way in is json_tree.cpp.
#pragma once

#include "plans/base/base.h"

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace shard {

struct Json;
using JsonList = std::vector<Json>;
struct JsonMember;
using JsonMap = std::vector<JsonMember>; // in the order written

// Whole numbers that fit i64 are i64, all others double.
struct Json {
    std::variant<std::monostate, bool, i64, double, std::string, JsonList, JsonMap> value;

    const Json* find(std::string_view key) const; // in a map; nullptr if absent or not a map
    std::string_view kind() const;                // "a string", "a list", ... for messages
};

struct JsonMember {
    std::string key;
    Json value;
};

struct JsonParse {
    bool ok = false;
    Json root;
    std::string problem; // if not ok: one line
    i64 offset = 0;      // where, in bytes
    i64 length = 1;
    bool ended = false; // the text ended before the document did
};

// Depth is limited to json_depth_limit, keys of one object must differ, numbers must be finite. The tree takes about
// twenty times the memory of a text of small values, so their number is limited too.
inline constexpr int json_depth_limit = 64;
inline constexpr i64 json_value_limit = 8'000'000;
JsonParse parse_json(std::string_view text, i64 value_limit = json_value_limit);

} // namespace shard
