#include "cli/env.h"

#include "plans/file.h"

namespace shard {

std::optional<std::string> DiskFiles::read(const std::string& path, std::string& error) {
    return read_file(path, error, text_file_limit);
}

bool DiskFiles::write(const std::string& path, std::string_view text, std::string& error) {
    return write_file_atomically(path, text, error);
}

} // namespace shard
