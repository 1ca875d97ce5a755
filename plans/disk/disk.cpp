#include "plans/disk/disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace shard {

int Disk::open(const std::string& path, int flags, mode_t mode) { return ::open(path.c_str(), flags, mode); }
ssize_t Disk::write(int descriptor, const char* from, size_t bytes) { return ::write(descriptor, from, bytes); }
int Disk::ftruncate(int descriptor, off_t bytes) { return ::ftruncate(descriptor, bytes); }
int Disk::fsync(int descriptor) { return ::fsync(descriptor); }
int Disk::close(int descriptor) { return ::close(descriptor); }
int Disk::rename(const std::string& from, const std::string& to) { return ::rename(from.c_str(), to.c_str()); }
int Disk::unlink(const std::string& path) { return ::unlink(path.c_str()); }
int Disk::mkdir(const std::string& path) { return ::mkdir(path.c_str(), 0777); }
int Disk::rmdir(const std::string& path) { return ::rmdir(path.c_str()); }

Disk& disk() {
    static Disk machine; // has no state
    return machine;
}

bool write_all(Disk& disk, int descriptor, std::string_view bytes, std::string& problem) {
    while (!bytes.empty()) {
        const ssize_t written = disk.write(descriptor, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            problem = std::strerror(written < 0 ? errno : EIO);
            return false;
        }
        bytes.remove_prefix(written);
    }
    return true;
}

bool sync_folder(Disk& disk, const std::string& path, std::string& problem) {
    const int descriptor = disk.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    // A folder may be writable and not readable, and some file systems cannot sync folders; then names are as safe as
    // they get.
    if (descriptor < 0 && errno == EACCES) return true;
    const bool fine = descriptor >= 0 && (disk.fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP);
    if (!fine) problem = std::strerror(errno);
    if (descriptor >= 0) disk.close(descriptor);
    return fine;
}

bool make_folders(Disk& disk, const std::string& path, std::string& problem) {
    struct stat status = {};
    if (::stat(path.c_str(), &status) == 0) {
        if (!S_ISDIR(status.st_mode)) problem = std::strerror(ENOTDIR);
        return S_ISDIR(status.st_mode);
    }
    const std::string parent = folder_of(path);
    if (errno != ENOENT || parent == path) {
        problem = std::strerror(errno);
        return false;
    }
    if (!make_folders(disk, parent, problem)) return false;
    if (disk.mkdir(path) != 0 && errno != EEXIST) {
        problem = std::strerror(errno);
        return false;
    }
    return sync_folder(disk, parent, problem);
}

std::string folder_of(const std::string& path) {
    const size_t end = path.find_last_not_of('/');
    const size_t slash = end == std::string::npos ? 0 : path.rfind('/', end);
    if (slash == std::string::npos) return ".";
    const size_t last = path.find_last_not_of('/', slash);
    return last == std::string::npos ? "/" : path.substr(0, last + 1);
}

} // namespace shard
