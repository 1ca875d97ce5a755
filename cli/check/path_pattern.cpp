#include "cli/check/path_pattern.h"

#include "plans/base/printable.h"

#include <algorithm>
#include <filesystem>
#include <fnmatch.h>

namespace shard {

std::string plain_path(const std::string& path) {
    return path == "-" ? path : printable(std::filesystem::path(path).lexically_normal().string());
}

bool is_pattern(std::string_view path) { return path.find_first_of("*?[") != std::string_view::npos; }

bool name_matches(const std::string& pattern, const std::string& name) {
    return ::fnmatch(pattern.c_str(), name.c_str(), FNM_PERIOD | FNM_NOESCAPE) == 0;
}

namespace {

bool is_link(const std::string& path) {
    std::error_code unknown;
    return std::filesystem::is_symlink(path, unknown);
}

// The folder and all below it but for hidden ones, and for links, by which a folder would be there twice.
void add_folders(Files& files, const std::string& folder, int deepest, std::vector<std::string>& found) {
    found.push_back(folder);
    if (deepest == 0) return;
    const std::string before = folder.empty() || folder.ends_with('/') ? folder : folder + "/";
    for (const std::string& name : files.list(folder.empty() ? "." : folder))
        if (!name.starts_with('.') && !is_link(before + name) && !files.list(before + name).empty())
            add_folders(files, before + name, deepest - 1, found);
}

constexpr int deepest_folder = 32;

} // namespace

std::vector<std::string> matching_paths(Files& files, const std::string& pattern) {
    std::vector<std::string> found = {pattern.starts_with('/') ? "/" : ""};
    for (size_t start = 0; start <= pattern.size();) {
        const size_t slash = std::min(pattern.find('/', start), pattern.size());
        const std::string part = pattern.substr(start, slash - start);
        start = slash + 1;
        if (part.empty()) continue;
        std::vector<std::string> longer;
        for (const std::string& folder : found) {
            if (part == "**") {
                add_folders(files, folder, deepest_folder, longer);
                continue;
            }
            const std::string before = folder.empty() || folder.ends_with('/') ? folder : folder + "/";
            if (!is_pattern(pattern.substr(0, slash))) { // whoever reads it says that it is not there
                longer.push_back(before + part);
                continue;
            }
            for (const std::string& name : files.list(folder.empty() ? "." : folder))
                if (name_matches(part, name)) longer.push_back(before + name);
        }
        found = std::move(longer);
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end()); // two ** find one file in several ways
    return found;
}

} // namespace shard
