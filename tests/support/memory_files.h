// Files in memory over a folder on disk: what a test writes never reaches the disk.
#pragma once

#include "cli/terminal/env.h"

#include <map>
#include <vector>

namespace shard {

class MemoryFiles : public Files {
public:
    // Paths that are not in memory are read below `root`; no root, no disk.
    explicit MemoryFiles(std::string root = {}) : root_(std::move(root)) {}
    std::optional<std::string> read(const std::string& path, std::string& error) override;
    bool write(const std::string& path, std::string_view text, std::string& error, OutputUse use) override;
    bool append(const std::string& path, std::string_view text, std::string& error) override;
    std::vector<std::string> list(const std::string& folder) override;
    bool writable(const std::string&, OutputUse, std::string&) override { return true; }
    bool make_folders(const std::string&, std::string&) override { return true; }

    std::map<std::string, std::string> files;

private:
    std::string root_;
};

// Runs one command as a user types it, with stdout and stderr as a terminal would show them without colour.
struct CommandResult {
    std::string out, err;
    int code = 0;
};
CommandResult run_command(MemoryFiles& files, const std::string& line, const std::string& input = {});

// Splits at spaces; "double" and 'single' quotes hold words together.
std::vector<std::string> split_words(const std::string& line);

} // namespace shard
