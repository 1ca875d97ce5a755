// Writing JSON by hand: values become text in the order they are added, so the same plan gives the same bytes.
//
//     JsonObject().string("name", "w1").integer("bytes", 64).text()    {"name": "w1", "bytes": 64}
//
// Doubles are the shortest text that reads back as the same number; nan, inf and -inf, which JSON lacks, are strings.
// Strings must be UTF-8; a byte that is not becomes U+FFFD. What a terminal would obey is escaped.
#pragma once

#include "plans/base/base.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shard {

// A value as JSON: "\"w1\"", "0.5", "[1, 2]".
std::string json_string(std::string_view text);
std::string json_number(double value);
std::string json_integers(std::span<const i64> values);
std::string json_integers(std::span<const int> values);
std::string json_strings(std::span<const std::string> values);
std::string json_array(std::span<const std::string> items); // items are JSON already
// One item a line, as the long lists of a plan are written; `indent` spaces before each.
std::string json_lines(std::span<const std::string> items, int indent);

class JsonObject {
public:
    JsonObject& raw(std::string_view key, std::string_view json);
    JsonObject& string(std::string_view key, std::string_view value) { return raw(key, json_string(value)); }
    JsonObject& number(std::string_view key, double value) { return raw(key, json_number(value)); }
    JsonObject& integer(std::string_view key, i64 value) { return raw(key, std::to_string(value)); }
    JsonObject& flag(std::string_view key, bool value) { return raw(key, value ? "true" : "false"); }
    // Left out when it has the value that a reader takes for a missing key.
    JsonObject& integer_unless(i64 usual, std::string_view key, i64 value);
    JsonObject& number_unless(double usual, std::string_view key, double value);
    JsonObject& flag_if(std::string_view key, bool value) { return value ? flag(key, true) : *this; }
    std::string text() const { return "{" + body_ + "}"; }

private:
    std::string body_;
};

} // namespace shard
