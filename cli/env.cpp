#include "cli/env.h"

#include "plans/file.h"

#include <cerrno>
#include <fstream>
#include <system_error>

namespace shard {

std::optional<std::string> DiskFiles::read(const std::string& path, std::string& error) {
    return read_file(path, error, text_file_limit);
}

bool DiskFiles::write(const std::string& path, std::string_view text, std::string& error) {
    return write_file_atomically(path, text, error);
}

bool DiskFiles::append(const std::string& path, std::string_view text, std::string& error) {
    std::ofstream file(path, std::ios::binary | std::ios::app);
    file << text << std::flush;
    if (!file) error = std::generic_category().message(errno);
    return static_cast<bool>(file);
}

} // namespace shard
