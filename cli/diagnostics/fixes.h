// Edits that mend what a diagnostic says without anybody having to think: a word that is nearly one that is known, a
// rule that can go, an allowance that silences nothing.
#pragma once

#include "cli/diagnostics/subjects.h"

#include <set>

namespace shard {

struct MendedLine {
    std::string before;
    std::optional<std::string> after; // absent: it goes
};

struct MendedFile {
    std::string file; // as `Sources` call it
    std::string before, after = {};
    std::vector<MendedLine> lines = {}; // that differ
};

using RefusedFixes = std::set<std::pair<std::string, std::string>>; // files, and lines of them that stay as they are

// In the order of names. Nothing of what was not read as it stands in a file: stdin, a model that was made of a program,
// texts with other values (--set). A rule goes where all that are checked with its file say that it can.
std::vector<MendedFile> mended_files(std::span<const Subject> subjects, const RefusedFixes& refused = {});

} // namespace shard
