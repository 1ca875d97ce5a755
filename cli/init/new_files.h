// Several files that a command makes.
#pragma once

#include "cli/terminal/env.h"
#include "plans/diagnostics/diagnostic.h"

namespace shard {

struct StartingFile {
    std::string path;
    std::string text;
};

// Writes all, and their folders, or says with E0703 why not: then none, unless the disk fails on the way.
bool write_together(Env& env, const std::vector<StartingFile>& files, Diagnostics& diagnostics);
// The same of files none of which may be there, unless they may be replaced: else E0714. Prints a line for each.
bool write_new_files(Env& env, const std::vector<StartingFile>& files, bool replace, Diagnostics& diagnostics);
// Where a file of that folder lies.
std::string path_in(const std::string& folder, const std::string& name);

} // namespace shard
