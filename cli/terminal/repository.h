// The repository that a command runs in: what is above the working folder, up to the one that holds `.git`. Programs
// that read annotations, findings and patches take their paths from its root, wherever the command was typed.
#pragma once

#include "cli/terminal/env.h"

namespace shard {

class Repository {
public:
    Repository() = default; // none: paths are as typed
    explicit Repository(Files& files);

    // From the working folder up: "", "../", "../../"; without a repository up to the root of the disk.
    const std::vector<std::string>& folders() const { return folders_; }
    // The way to the root from the working folder, "../../"; nullopt without a repository.
    std::optional<std::string> root() const { return root_.empty() ? std::nullopt : std::optional(folders_.back()); }
    // From the root, with '/'. As typed without a repository, and for what lies outside it or is no
    // file: <stdin>, library:llama.
    std::string path(const std::string& typed) const;

private:
    std::vector<std::string> folders_;
    std::string root_; // absolute; empty if there is none
    std::string here_; // absolute
};

} // namespace shard
