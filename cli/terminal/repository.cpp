#include "cli/terminal/repository.h"

#include <algorithm>
#include <filesystem>

namespace shard {

Repository::Repository(Files& files) {
    std::error_code failed;
    std::filesystem::path folder = std::filesystem::current_path(failed);
    if (failed) {
        folders_ = {""};
        return;
    }
    here_ = folder.string();
    const auto above = std::distance(folder.begin(), folder.end());
    std::string prefix;
    for (auto i = above; i >= 0; --i, prefix += "../", folder = folder.parent_path()) {
        folders_.push_back(prefix);
        const std::vector<std::string> names = files.list(prefix.empty() ? "." : prefix.substr(0, prefix.size() - 1));
        if (!std::binary_search(names.begin(), names.end(), ".git")) continue;
        root_ = folder.string();
        return;
    }
}

std::string Repository::path(const std::string& typed) const {
    if (root_.empty() || typed.empty() || typed.find_first_of("<:") != std::string::npos) return typed;
    const std::filesystem::path full =
        (std::filesystem::path(here_) / typed).lexically_normal(); // or typed, if absolute
    const std::string inside = full.lexically_relative(root_).generic_string();
    return inside.empty() || inside == "." || inside == ".." || inside.starts_with("../") ? typed : inside;
}

} // namespace shard
