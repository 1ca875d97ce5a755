// What a terminal is: whether it shows colour, and how wide it is. Everything that prints asks a Paint.
#pragma once

#include "plans/base/printable.h"
#include "plans/sharding/mesh.h"

#include <string>
#include <string_view>

namespace shard {

struct Paint {
    bool on = false;
    size_t width = 0; // columns to lay out in; 0: no limit

    // For a line that a file or a large window keeps whole: there it is read, and searched, more easily.
    static constexpr size_t wide = 116;
    size_t narrow_width() const { return width >= wide ? 0 : width; }

    // `code` is an SGR code such as "1;34"; an empty one leaves the text as it is.
    std::string operator()(std::string_view code, std::string_view text) const;
    std::string strong(std::string_view text) const { return (*this)("1", text); }
    std::string faint(std::string_view text) const { return (*this)("2", text); }
};

// One colour per mesh axis, in mesh order, the same in every report.
std::string_view axis_color(int axis);

// Goes back to the line's beginning and empties it.
inline constexpr std::string_view clear_line = "\r\x1b[K";

} // namespace shard
