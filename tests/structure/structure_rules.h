// The architecture's rules that a machine can check: who may include whom, where each library lives, how long a file
// may grow. Pure functions over file texts, so that the rules themselves have tests.
#pragma once

#include "plans/base/base.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace shard {

struct SourceFile {
    std::string path; // from the repository root, with '/': "planner/text/yaml.cpp"
    std::string text;
};

// One line, "path:line: what is wrong and what to do".
using StructureFinding = std::string;

// No .h or .cpp may be longer. Files are meant to have 100 to 220 lines; this is where an idea has become two.
inline constexpr i64 line_budget = 450;

// Each file's includes against
//     cli -> planner -> plans <- executor <- cli (exporter as executor)        tests and bench may include anything
// and against the homes of the third-party headers.
std::vector<StructureFinding> check_includes(const std::vector<SourceFile>& files);

// The folders of README's map of the code, in its order: "plans/base", ...
using FolderMap = std::vector<std::string>;
FolderMap read_folder_map(std::string_view readme);

// A file includes only from its own folder and from those above it in the map. What stands outside of the folders
// (cli/main.cpp) may include all of its side, and no folder of its side includes it. The map and the tree have the same
// folders.
std::vector<StructureFinding> check_folders(const std::vector<SourceFile>& files, const FolderMap& map);

// The tests of a folder are in the folder of its name below tests/, those of a file in the one of its name and "_test".
// Other folders of tests/ are in the guide, by their paths in backquotes.
std::vector<StructureFinding> check_tests(const std::vector<SourceFile>& files, std::string_view guide);

// What a .cpp defines is declared in the header of its name, unless a registry finds it: every .cpp has one, and no
// free function is declared in another.
std::vector<StructureFinding> check_headers(const std::vector<SourceFile>& files);
std::vector<StructureFinding> check_declarations(const std::vector<SourceFile>& files);

// Files that comments speak of are there.
std::vector<StructureFinding> check_mentions(const std::vector<SourceFile>& files);

// Two headers never define types of one name: programs that hold both would be wrong in ways that no linker reports.
std::vector<StructureFinding> check_types(const std::vector<SourceFile>& files);

// The product changes the disk through its border alone, plans/disk/disk.h, so that tests see every call.
std::vector<StructureFinding> check_disk_calls(const std::vector<SourceFile>& files);

std::vector<StructureFinding> check_lengths(const std::vector<SourceFile>& files);

// Every .h and .cpp of the product, its tests and its benchmarks, sorted by path.
std::vector<SourceFile> read_source_tree(const std::filesystem::path& root);

} // namespace shard
