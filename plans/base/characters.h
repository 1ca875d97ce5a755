// What characters are in names and numbers, whatever the locale.
#pragma once

#include <algorithm>
#include <string_view>

namespace shard {

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
// With what the names of the product's files begin: axes, values, modules.
constexpr bool starts_name(char c) { return is_letter(c) || c == '_'; }

inline bool all_digits(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

} // namespace shard
