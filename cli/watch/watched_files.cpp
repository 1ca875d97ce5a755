#include "cli/watch/watched_files.h"

#include <filesystem>

namespace shard {

std::optional<std::string> WatchedFiles::look(const std::string& path, std::string& error) const {
    std::error_code none;
    const std::filesystem::file_status status = std::filesystem::status(path, none);
    if (std::filesystem::is_other(status)) {
        error = "it is a pipe or a device, and watch reads a file again and again";
        return std::nullopt;
    }
    return under_.read(path, error);
}

std::optional<std::string> WatchedFiles::read(const std::string& path, std::string& error) {
    std::optional<std::string> text = look(path, error);
    texts_.insert_or_assign(path, text);
    return text;
}

bool WatchedFiles::write(const std::string& path, std::string_view text, std::string& error, OutputUse use) {
    return under_.write(path, text, error, use);
}

bool WatchedFiles::append(const std::string& path, std::string_view text, std::string& error) {
    return under_.append(path, text, error);
}

std::vector<std::string> WatchedFiles::list(const std::string& folder) { return under_.list(folder); }

bool WatchedFiles::writable(const std::string& path, OutputUse use, std::string& error) {
    return under_.writable(path, use, error);
}

bool WatchedFiles::make_folders(const std::string& path, std::string& error) {
    return under_.make_folders(path, error);
}

std::vector<std::string> WatchedFiles::changed() const {
    std::vector<std::string> paths;
    for (const auto& [path, text] : texts_) {
        std::string ignored;
        if (look(path, ignored) != text) paths.push_back(path);
    }
    return paths;
}

} // namespace shard
