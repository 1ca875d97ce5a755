#include "cli/terminal/env.h"

#include "plans/disk/file.h"

#include <algorithm>

namespace shard {

std::optional<std::string> DiskFiles::read(const std::string& path, std::string& error) {
    if (const std::optional<FileIdentity> file = identity_of(path)) read_.push_back(*file);
    return read_file(path, error, text_file_limit);
}

bool DiskFiles::write(const std::string& path, std::string_view text, std::string& error) {
    const std::optional<FileIdentity> file = identity_of(path);
    if (!file || std::find(read_.begin(), read_.end(), *file) == read_.end())
        return write_file_atomically(path, text, error);
    error = "it is a file that was read for this";
    return false;
}

bool DiskFiles::append(const std::string& path, std::string_view text, std::string& error) {
    std::unique_ptr<LogFile>& log = logs_[path];
    if (!log) log = LogFile::open(path, error);
    return log && log->append(text, error);
}

bool DiskFiles::writable(const std::string& path, OutputUse use, std::string& error) {
    return check_output(path, use, error);
}

} // namespace shard
