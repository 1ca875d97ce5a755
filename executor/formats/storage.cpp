#include "executor/formats/storage.h"

#include "plans/disk/file.h"
#include "plans/disk/read_inputs.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace shard {

std::optional<RangeFile> RangeFile::open(const std::string& path, std::string& problem) {
    // Without O_NONBLOCK a pipe of that name would wait for a writer.
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        problem = std::strerror(errno);
        return std::nullopt;
    }
    RangeFile file(descriptor, 0);
    struct stat status = {};
    if (::fstat(descriptor, &status) != 0) {
        problem = std::strerror(errno);
        return std::nullopt;
    }
    if (!S_ISREG(status.st_mode)) {
        problem = S_ISDIR(status.st_mode) ? "is a directory" : "is not a regular file";
        return std::nullopt;
    }
    note_input(descriptor);
    file.bytes_ = static_cast<i64>(status.st_size);
    return file;
}

RangeFile::~RangeFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

bool RangeFile::read(i64 offset, std::span<std::byte> to, std::string& problem) const {
    while (!to.empty()) {
        const ssize_t got = ::pread(descriptor_, to.data(), to.size(), static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            problem = got < 0 ? std::strerror(errno) : "it ends too early";
            return false;
        }
        offset += got;
        to = to.subspan(got);
    }
    return true;
}

std::optional<std::string> read_regular_file(const std::string& path, size_t limit, std::string& problem) {
    const std::optional<RangeFile> file = RangeFile::open(path, problem);
    if (!file) return std::nullopt;
    if (file->bytes() > static_cast<i64>(limit)) {
        problem = too_large(limit);
        return std::nullopt;
    }
    std::string text(file->bytes(), '\0');
    if (!file->read(0, std::as_writable_bytes(std::span<char>(text)), problem)) return std::nullopt;
    return text;
}

FolderLock::FolderLock(const std::string& path, Kind kind)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    held_ = descriptor_ >= 0 && ::flock(descriptor_, (kind == one ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0;
    taken_by_other_ = descriptor_ >= 0 && !held_ && errno == EWOULDBLOCK;
}

FolderLock::~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

} // namespace shard
