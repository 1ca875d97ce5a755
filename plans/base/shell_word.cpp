#include "plans/base/shell_word.h"

#include "plans/base/characters.h"
#include "plans/base/printable.h"

#include <algorithm>

namespace shard {

std::string shell_word(std::string_view text) {
    const std::string shown = printable(text);
    const auto is_plain = [](char c) {
        return is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80 ||
               std::string_view("_./:=@%+,-").find(c) != std::string_view::npos;
    };
    if (!shown.empty() && std::all_of(shown.begin(), shown.end(), is_plain)) return shown;
    std::string word = "'";
    for (const char c : shown) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + "'";
}

} // namespace shard
