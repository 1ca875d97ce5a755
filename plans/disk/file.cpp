#include "plans/disk/file.h"

#include "plans/disk/read_inputs.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace shard {

namespace {

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

} // namespace

std::string too_large(size_t limit) {
    return "it has more than " + std::to_string(limit >> 20) + " MiB, which is the most that is read";
}

std::optional<std::string> read_file(const std::string& path, std::string& problem, size_t limit) {
    struct stat status = {};
    if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
        problem = "is a directory";
        return std::nullopt;
    }
    const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
    if (!file) {
        problem = std::strerror(errno);
        return std::nullopt;
    }
    note_input(::fileno(file.get()));
    std::string contents;
    char block[1 << 16];
    while (const size_t got = std::fread(block, 1, sizeof block, file.get())) {
        contents.append(block, got);
        if (contents.size() > limit) {
            problem = too_large(limit);
            return std::nullopt;
        }
    }
    if (std::ferror(file.get()) != 0) {
        problem = std::strerror(errno);
        return std::nullopt;
    }
    return contents;
}

} // namespace shard
