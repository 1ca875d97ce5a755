#include "executor/storage.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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
        to = to.subspan(static_cast<size_t>(got));
    }
    return true;
}

NewFile::NewFile(const std::string& path)
    : descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) problem_ = std::strerror(errno);
}

NewFile::~NewFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

void NewFile::append(std::span<const std::byte> bytes) {
    constexpr size_t block = size_t{1} << 20; // summed while it is in cache
    while (problem_.empty() && !bytes.empty()) {
        const ssize_t written = ::write(descriptor_, bytes.data(), std::min(bytes.size(), block));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            problem_ = std::strerror(errno);
            return;
        }
        sum_.add(bytes.first(static_cast<size_t>(written)));
        bytes_ += written;
        bytes = bytes.subspan(static_cast<size_t>(written));
    }
}

void NewFile::append(std::string_view text) { append(std::as_bytes(std::span<const char>(text))); }

bool NewFile::finish() {
    if (descriptor_ < 0) return false;
    if (problem_.empty() && ::fsync(descriptor_) != 0) problem_ = std::strerror(errno);
    if (::close(descriptor_) != 0 && problem_.empty()) problem_ = std::strerror(errno);
    descriptor_ = -1;
    return problem_.empty();
}

bool sync_folder(const std::string& path, std::string& problem) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    // Some file systems cannot sync folders; then their names are as safe as they get.
    const bool fine = descriptor >= 0 && (::fsync(descriptor) == 0 || errno == EINVAL);
    if (!fine) problem = std::strerror(errno);
    if (descriptor >= 0) ::close(descriptor);
    return fine;
}

FolderLock::FolderLock(const std::string& path)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    taken_by_other_ = descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

FolderLock::~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

} // namespace shard
