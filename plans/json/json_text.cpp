#include "plans/json/json_text.h"

#include "plans/base/printable.h"

#include <fmt/format.h>

#include <cmath>

namespace shard {

namespace {

template<class T>
std::string integers(std::span<const T> values) {
    std::string out = "[";
    for (size_t i = 0; i < values.size(); ++i) {
        if (i > 0) out += ", ";
        out += std::to_string(values[i]);
    }
    return out + "]";
}

// JSON's escapes have four digits (RFC 8259, 7).
std::string surrogates(std::string_view character) {
    char32_t code = static_cast<unsigned char>(character[0]) & 0x07U;
    for (const char next : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(next) & 0x3FU);
    code -= 0x10000;
    return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + static_cast<unsigned>(code >> 10),
                       0xDC00 + static_cast<unsigned>(code & 0x3FFU));
}

} // namespace

std::string json_string(std::string_view text) {
    std::string out = "\"";
    while (!text.empty()) {
        const size_t length = utf8_length(text);
        const char c = text[0];
        if (length == 0)
            out += "\\ufffd";
        else if (c == '"' || c == '\\')
            out += {'\\', c};
        else if (length == 4 && hidden_length(text) > 0)
            out += surrogates(text.substr(0, length));
        else if (hidden_length(text) > 0)
            out += escaped_character(text.substr(0, length));
        else
            out += text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return out + "\"";
}

std::string json_number(double value) {
    if (std::isnan(value)) return "\"nan\"";
    if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
    // "-0" would read back as the integer 0.
    if (value == 0) return std::signbit(value) ? "-0.0" : "0";
    return fmt::format("{}", value);
}

std::string json_integers(std::span<const i64> values) { return integers(values); }
std::string json_integers(std::span<const int> values) { return integers(values); }

std::string json_strings(std::span<const std::string> values) {
    std::vector<std::string> items;
    for (const std::string& value : values) items.push_back(json_string(value));
    return json_array(items);
}

std::string json_array(std::span<const std::string> items) {
    std::string out = "[";
    for (size_t i = 0; i < items.size(); ++i) {
        if (i > 0) out += ", ";
        out += items[i];
    }
    return out + "]";
}

std::string json_lines(std::span<const std::string> items, int indent) {
    if (items.empty()) return "[]";
    const std::string before = "\n" + std::string(indent, ' ');
    std::string out = "[";
    for (size_t i = 0; i < items.size(); ++i) {
        if (i > 0) out += ",";
        out += before;
        out += items[i];
    }
    return out + before.substr(0, before.size() - std::min(before.size() - 1, size_t{2})) + "]";
}

JsonObject& JsonObject::raw(std::string_view key, std::string_view json) {
    if (!body_.empty()) body_ += ", ";
    body_ += json_string(key);
    body_ += ": ";
    body_ += json;
    return *this;
}

JsonObject& JsonObject::integer_unless(i64 usual, std::string_view key, i64 value) {
    return value == usual ? *this : integer(key, value);
}

JsonObject& JsonObject::number_unless(double usual, std::string_view key, double value) {
    // By sign too, so that -0 is written where 0 is usual.
    return value == usual && std::signbit(value) == std::signbit(usual) ? *this : number(key, value);
}

} // namespace shard
