// A file that another one names: a layout its hardware profile, a model the files of its modules.
#pragma once

#include "plans/diagnostics/diagnostic.h"

#include <string>
#include <string_view>

namespace shard {

// Whether a name is that of a file, and not of something in the box.
bool is_file_name(std::string_view name);
// Relative to the file in which the name stands, without "." and "..".
std::string path_beside(std::string_view name, const Span& where, const Sources& sources);
// -1: no source is at that path.
int find_source(const Sources& sources, std::string_view path);
// The source of that path, read from the disk unless it is there: a plan file brings its own. -1: it cannot be read.
int load_source(Sources& sources, const std::string& path);
// Why it cannot be read: "is a directory".
std::string source_problem(const std::string& path);

} // namespace shard
