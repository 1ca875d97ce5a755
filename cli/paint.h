// Colour for terminals: everything that prints asks a Paint, which does nothing when colour is off.
#pragma once

#include "plans/mesh.h"

#include <string>
#include <string_view>

namespace shard {

struct Paint {
    bool on = false;

    // `code` is an SGR code such as "1;34"; an empty one leaves the text as it is.
    std::string operator()(std::string_view code, std::string_view text) const;
    std::string strong(std::string_view text) const { return (*this)("1", text); }
    std::string faint(std::string_view text) const { return (*this)("2", text); }
};

// One colour per mesh axis, in mesh order, the same in every report.
std::string_view axis_color(int axis);

// Columns that a UTF-8 text takes: one per code point (wide characters do not occur in what shardc prints).
size_t display_width(std::string_view text);

// Control characters of a user's file would let it paint the terminal, and bytes that are not UTF-8 confuse it: they
// become '?'.
std::string printable(std::string_view text);

} // namespace shard
