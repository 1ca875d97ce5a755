#include "plans/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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
    std::string contents;
    char block[1 << 16];
    for (size_t got = 0; (got = std::fread(block, 1, sizeof block, file.get())) > 0;) {
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

bool write_file_atomically(const std::string& path, std::string_view contents, std::string& problem) {
    std::string temporary = path + ".XXXXXX"; // in the same folder: a rename cannot cross file systems
    const int descriptor = ::mkstemp(temporary.data());
    if (descriptor < 0) {
        problem = std::strerror(errno);
        return false;
    }
    bool fine = true;
    while (fine && !contents.empty()) {
        const ssize_t written = ::write(descriptor, contents.data(), contents.size());
        if (written < 0 && errno == EINTR) continue;
        fine = written >= 0;
        if (fine) contents.remove_prefix(static_cast<size_t>(written));
    }
    const mode_t mask = ::umask(0); // mkstemp makes private files; give the mode that a plain open would
    ::umask(mask);
    fine = fine && ::fchmod(descriptor, 0666 & ~mask) == 0 && ::fsync(descriptor) == 0;
    if (!fine) problem = std::strerror(errno);
    if (::close(descriptor) != 0 && fine) {
        problem = std::strerror(errno);
        fine = false;
    }
    if (fine && ::rename(temporary.c_str(), path.c_str()) != 0) {
        problem = std::strerror(errno);
        fine = false;
    }
    if (!fine) ::unlink(temporary.c_str());
    return fine;
}

} // namespace shard
