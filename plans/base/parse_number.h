// A text that is a number, and nothing else: no blanks, no sign '+'. Nothing depends on the locale.
//
//     parse_number<i64>("-12")                  -12
//     parse_number<i64>("12 GiB")               nullopt, as is what does not fit 64 bits
//     parse_number<std::uint32_t>("cbf4", 16)   0xcbf4
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace shard {

template<typename Number, typename... Base>
std::optional<Number> parse_number(std::string_view text, Base... base) {
    Number number{};
    const std::from_chars_result end = std::from_chars(text.data(), text.data() + text.size(), number, base...);
    if (end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
    return number;
}

} // namespace shard
