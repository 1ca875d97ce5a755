// Edits that mend what a diagnostic says without anybody having to think: a word that is nearly one that is known, a
// rule that can go, an allowance that silences nothing.
#pragma once

#include "cli/diagnostics/subjects.h"

#include <map>

namespace shard {

// One line of a file as it would be; absent: the line goes.
struct Fix {
    std::string file;
    int line = 0;
    std::optional<std::string> with = {};
};

// In the order of files and lines, at most one for a line. Nothing of what was not read as it stands in a file: stdin,
// a model that was made of a program, texts with other values (--set). A rule goes where all that are checked with its
// file say that it can.
std::vector<Fix> fixes_of(std::span<const Subject> subjects);

} // namespace shard
