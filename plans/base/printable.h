// Text of unknown origin (names of files, arguments, texts of files) as it may stand in a message, a table or a log.
//
//     printable("a\x1b[31m\n")      a\u001b[31m\n      (that is: backslash, u, 0, 0, 1, b, ... backslash, n)
//
// What is escaped is never seen but changes what is: control characters (an ESC paints the terminal, a line break
// begins a new line of a log, which another program may read), characters that turn the direction of text, separators
// of lines, characters without width, spaces that look like the one of ASCII, and bytes that are not UTF-8. The escapes
// are those of JSON, so escaping inside a JSON string keeps it one; a byte that is not UTF-8 becomes \xff.
#pragma once

#include <string>
#include <string_view>

namespace shard {

// Bytes of the well-formed UTF-8 character at the front of `text`; 0 if there is none (RFC 3629: no overlong forms, no
// surrogates), or no text.
size_t utf8_length(std::string_view text);

// Bytes of the character at the front of `text`, which is not empty, if it has to be escaped; else 0.
size_t hidden_length(std::string_view text);
// What stands for that character.
std::string escaped_character(std::string_view character);

// One line, safe to print. Unchanged if nothing is to be escaped.
std::string printable(std::string_view text);

// Columns that printable text takes in a terminal: none for a combining mark, two for a wide character.
size_t display_width(std::string_view text);

} // namespace shard
