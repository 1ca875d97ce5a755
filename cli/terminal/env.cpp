#include "cli/terminal/env.h"

#include "plans/disk/disk.h"
#include "plans/disk/file.h"

#include <algorithm>
#include <filesystem>

namespace shard {

std::optional<std::string> DiskFiles::read(const std::string& path, std::string& error) {
    return read_file(path, error, text_file_limit);
}

bool DiskFiles::write(const std::string& path, std::string_view text, std::string& error, OutputUse use) {
    return write_file_atomically(path, text, error, disk(), use);
}

bool DiskFiles::append(const std::string& path, std::string_view text, std::string& error) {
    std::unique_ptr<LogFile>& log = logs_[path];
    if (!log) log = LogFile::open(path, error);
    return log && log->append(text, error);
}

std::vector<std::string> DiskFiles::list(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code failed;
    for (std::filesystem::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
        std::error_code unknown;
        if (!it->is_fifo(unknown) && !it->is_socket(unknown)) names.push_back(it->path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

bool DiskFiles::writable(const std::string& path, OutputUse use, std::string& error) {
    return check_output(path, use, error);
}

bool DiskFiles::make_folders(const std::string& path, std::string& error) {
    return shard::make_folders(disk(), path, error);
}

} // namespace shard
