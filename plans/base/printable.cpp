#include "plans/base/printable.h"

#include <clocale>
#include <cwchar>

#include <fmt/format.h>

namespace shard {

namespace {

unsigned byte_at(std::string_view text, size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; }

// Of the well-formed character that has `length` bytes.
char32_t code_point(std::string_view text, size_t length) {
    constexpr unsigned lead_bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    char32_t code = byte_at(text, 0) & lead_bits[length];
    for (size_t i = 1; i < length; ++i) code = code << 6 | (byte_at(text, i) & 0x3FU);
    return code;
}

bool is_hidden(char32_t c) {
    return c < 0x20 || (c >= 0x7F && c < 0xA0) ||                          // C0, DEL, C1
           c == 0x00A0 || c == 0x202F || c == 0x205F || c == 0x1680 ||     // spaces that look like the one
           (c >= 0x2000 && c <= 0x200A) || c == 0x3000 ||                  // more of them
           c == 0x00AD || c == 0x034F || c == 0x180E || c == 0xFEFF ||     // a soft hyphen, joiners, a byte order mark
           (c >= 0x200B && c <= 0x200F) || (c >= 0x2060 && c <= 0x2065) || // of no width; marks of direction
           c == 0x115F || c == 0x1160 || c == 0x3164 || c == 0xFFA0 ||     // letters without a glyph
           (c >= 0x17B4 && c <= 0x17B5) || (c >= 0x180B && c <= 0x180F) || // vowels and variations without one
           (c >= 0xFE00 && c <= 0xFE0F) || (c >= 0xE0000 && c <= 0xE0FFF) || // variations; tags
           c == 0x061C ||                                                    // a mark of direction
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x206F) ||   // separators, overrides, isolates
           (c >= 0xFFF9 && c <= 0xFFFB) || c == 0xFFFE || c == 0xFFFF;       // annotations; not characters, nor XML
}

// The C library's table of widths, which is that of the locale of the thread.
class Utf8Locale {
public:
    Utf8Locale() : locale_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {}
    ~Utf8Locale() {
        if (locale_ != nullptr) freelocale(locale_);
    }
    Utf8Locale(const Utf8Locale&) = delete;
    Utf8Locale& operator=(const Utf8Locale&) = delete;
    int width(char32_t c) const {
        if (locale_ == nullptr) return 1;
        const locale_t before = uselocale(locale_);
        const int columns = ::wcwidth(static_cast<wchar_t>(c));
        uselocale(before);
        return columns;
    }

private:
    locale_t locale_;
};

} // namespace

size_t utf8_length(std::string_view text) {
    const auto tail = [&](size_t i) { return (byte_at(text, i) & 0xC0U) == 0x80U; };
    const unsigned lead = byte_at(text, 0);
    if (lead < 0x80) return text.empty() ? 0 : 1;
    if (lead >= 0xC2 && lead <= 0xDF) return tail(1) ? 2 : 0;
    if (lead >= 0xE0 && lead <= 0xEF) {
        if (!tail(1) || !tail(2)) return 0;
        return (lead == 0xE0 && byte_at(text, 1) < 0xA0) || (lead == 0xED && byte_at(text, 1) > 0x9F) ? 0 : 3;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        if (!tail(1) || !tail(2) || !tail(3)) return 0;
        return (lead == 0xF0 && byte_at(text, 1) < 0x90) || (lead == 0xF4 && byte_at(text, 1) > 0x8F) ? 0 : 4;
    }
    return 0;
}

size_t hidden_length(std::string_view text) {
    const size_t length = utf8_length(text);
    if (length == 0) return 1;
    return is_hidden(code_point(text, length)) ? length : 0;
}

std::string escaped_character(std::string_view character) {
    if (utf8_length(character) != character.size()) return fmt::format("\\x{:02x}", byte_at(character, 0));
    if (character == "\n") return "\\n";
    if (character == "\r") return "\\r";
    if (character == "\t") return "\\t";
    const unsigned code = code_point(character, character.size());
    return code > 0xFFFF ? fmt::format("\\U{:08x}", code) : fmt::format("\\u{:04x}", code);
}

std::string printable(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const size_t hidden = hidden_length(text);
        const size_t length = hidden == 0 ? utf8_length(text) : hidden;
        if (hidden == 0)
            result += text.substr(0, length);
        else
            result += escaped_character(text.substr(0, length));
        text.remove_prefix(length);
    }
    return result;
}

size_t display_width(std::string_view text) {
    static const Utf8Locale locale;
    size_t columns = 0;
    while (!text.empty()) {
        const size_t length = utf8_length(text);
        const bool ascii = length == 1;
        const int width = ascii || length == 0 ? 1 : locale.width(code_point(text, length));
        columns += width < 0 ? 1 : width;
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return columns;
}

} // namespace shard
