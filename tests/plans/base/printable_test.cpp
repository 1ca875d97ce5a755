#include "plans/base/printable.h"

#include <doctest/doctest.h>

#include <string>

namespace shard {

namespace {

std::string utf8(char32_t c) {
    if (c < 0x80) return {static_cast<char>(c)};
    if (c < 0x800) return {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))};
    if (c > 0xFFFF)
        return {static_cast<char>(0xF0 | c >> 18), static_cast<char>(0x80 | (c >> 12 & 0x3F)),
                static_cast<char>(0x80 | (c >> 6 & 0x3F)), static_cast<char>(0x80 | (c & 0x3F))};
    return {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3F)),
            static_cast<char>(0x80 | (c & 0x3F))};
}

} // namespace

TEST_CASE("what nobody sees, or takes for a space, is written as its number: the first and the last of each range") {
    for (const char32_t c : {0x01,   0x1F,   0x7F,   0x9F,   0xA0,   0xAD,   0x034F, 0x061C,  0x115F,  0x1160,
                             0x1680, 0x17B4, 0x17B5, 0x180B, 0x180F, 0x2000, 0x200A, 0x200B,  0x200F,  0x2028,
                             0x202E, 0x202F, 0x205F, 0x2060, 0x2065, 0x2066, 0x206F, 0x3000,  0x3164,  0xFE00,
                             0xFE0F, 0xFEFF, 0xFFA0, 0xFFF9, 0xFFFB, 0xFFFE, 0xFFFF, 0xe0000, 0xe0041, 0xe0fff}) {
        CAPTURE(static_cast<unsigned>(c));
        CHECK(printable("a" + utf8(c) + "b") != "a" + utf8(c) + "b");
    }
    for (const char32_t c :
         {0x20,   0x7E,   0xA1,   0xAC,   0xAE,   0x0350, 0x1681, 0x2010, 0x2027, 0x2030,  0x205E,  0x2070, 0x2FFF,
          0x3001, 0x17B3, 0x17B6, 0x180A, 0x1810, 0xFDFF, 0xFE10, 0xFFFC, 0xFFFD, 0x1F600, 0xdffff, 0xe1000}) {
        CAPTURE(static_cast<unsigned>(c));
        CHECK(printable("a" + utf8(c) + "b") == "a" + utf8(c) + "b");
    }
    CHECK(printable(utf8(0x202E)) == "\\u202e");
    CHECK(printable(utf8(0xe0041) + "1") == "\\U000e00411");
}

} // namespace shard
