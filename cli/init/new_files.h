// Files that a command makes, none of which may be there.
#pragma once

#include "cli/terminal/env.h"
#include "plans/diagnostics/diagnostic.h"

namespace shard {

struct StartingFile {
    std::string path;
    std::string text;
};

// Writes all and prints a line for each, or says why not, then none unless the disk fails on the way. E0714 for files
// that are there, unless they may be replaced; E0703.
bool write_new_files(Env& env, const std::vector<StartingFile>& files, bool replace, Diagnostics& diagnostics);
// Where a file of that folder lies.
std::string path_in(const std::string& folder, const std::string& name);

} // namespace shard
