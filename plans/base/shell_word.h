// A word of a command line as a shell takes it: in a command that a message says to run, of a file of any name.
//
//     model.yaml     'my model.yaml'     'it'\''s.yaml'
#pragma once

#include <string>
#include <string_view>

namespace shard {

// Unchanged where no character means anything to a shell; else in single quotes. What must not be printed is escaped
// as printable() does, and is then another name.
std::string shell_word(std::string_view text);

} // namespace shard
