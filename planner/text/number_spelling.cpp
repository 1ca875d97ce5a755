#include "planner/text/number_spelling.h"

#include "plans/base/base.h"
#include "plans/base/characters.h"
#include "plans/base/parse_number.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// 0x10, 0b101 and 0o17, as a decimal number; "" for others.
std::string in_decimal(std::string_view text) {
    if (text.size() < 3 || text[0] != '0') return "";
    const int base = text[1] == 'x' ? 16 : text[1] == 'o' ? 8 : text[1] == 'b' ? 2 : 0;
    if (base == 0) return "";
    const std::optional<i64> value = parse_number<i64>(text.substr(2), base);
    return value ? std::to_string(*value) : "";
}

} // namespace

std::string number_spelling_help(std::string_view text) {
    const bool negative = text.starts_with('-');
    std::string_view plain = text;
    if (negative || text.starts_with('+')) plain.remove_prefix(1);
    std::string lower(plain);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    if (lower == "inf" || lower == "infinity" || lower == ".inf")
        return fmt::format("infinity is written {}.inf", negative ? "-" : "");
    if (lower == "nan" || lower == ".nan") return "the number that is none is written .nan";
    if (lower == "true" || lower == "false") return "flags are written true and false, without quotes";
    const size_t digit = plain.starts_with('.') ? 1 : 0;
    if (plain.size() <= digit || !is_digit(plain[digit])) return "";
    if (const std::string decimal = in_decimal(lower); !decimal.empty())
        return fmt::format("write it in decimal digits: {}{}", negative ? "-" : "", decimal);
    return "a number is written in decimal digits without quotes, as 1000, 0.5 or 1e-3";
}

} // namespace shard
