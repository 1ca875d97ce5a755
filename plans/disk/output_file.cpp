#include "plans/disk/output_file.h"

#include "plans/disk/output_path.h"
#include "plans/disk/temporaries.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace shard {

namespace {

// The owner may be somebody else's to give; then the permissions to act in his name go too.
void keep_mode_and_owner(int descriptor, const struct stat& before) {
    struct stat now = {};
    bool same = ::fstat(descriptor, &now) == 0 && now.st_uid == before.st_uid && now.st_gid == before.st_gid;
    same = same || ::fchown(descriptor, before.st_uid, before.st_gid) == 0;
    static_cast<void>(::fchmod(descriptor, before.st_mode & (same ? 07777 : 0777))); // some file systems have no modes
}

bool write_in_place(const OutputPath& to, std::string_view contents, std::string& problem, Disk& disk) {
    if (to.kind == OutputPath::descriptor) return write_all(disk, to.number, contents, problem);
    const int descriptor = disk.open(to.path, O_WRONLY | O_NOCTTY | O_CLOEXEC, 0);
    bool fine = descriptor >= 0;
    if (!fine) problem = std::strerror(errno);
    fine = fine && write_all(disk, descriptor, contents, problem);
    // Pipes and terminals have nothing to sync; a disk has.
    if (fine && disk.fsync(descriptor) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS) {
        problem = std::strerror(errno);
        fine = false;
    }
    if (descriptor >= 0 && disk.close(descriptor) != 0 && fine) {
        problem = std::strerror(errno);
        fine = false;
    }
    return fine;
}

bool replace_file(const OutputPath& to, std::string_view contents, std::string& problem, Disk& disk) {
    const std::string folder = folder_of(to.path); // in the same folder: a rename cannot cross file systems
    remove_stale_temporaries(disk, folder);
    for (int attempt = 1;; ++attempt) {
        const Temporary temporary(folder + "/" + temporary_name());
        NewFile file(temporary.path(), disk, to.exists ? 0600 : 0666); // before it has the old one's mode, nobody's
        const TemporaryLock lock(file.descriptor());
        const bool mine = file.descriptor() >= 0 ? lock.is_held() : file.error() != EEXIST;
        if (!mine && attempt < 100) continue;
        if (file.descriptor() >= 0 && to.exists) keep_mode_and_owner(file.descriptor(), to.status);
        file.append(contents);
        bool fine = file.finish();
        if (!fine) {
            problem = file.problem();
        } else if (disk.rename(temporary.path(), to.path) != 0) {
            problem = std::strerror(errno);
            fine = false;
        }
        if (!fine) {
            if (file.error() == 0) disk.unlink(temporary.path());
            return false;
        }
        if (sync_folder(disk, folder, problem)) return true;
        problem += ", after it was written: a power cut may bring the old file back";
        return false;
    }
}

// Whoever wrote it was killed, or is an editor that leaves the last line so. Where it may not be read nobody knows.
bool ends_in_a_line(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor < 0) return false;
    struct stat status = {};
    char last = '\n';
    const bool read = ::fstat(descriptor, &status) == 0 && status.st_size > 0 &&
                      ::pread(descriptor, &last, 1, status.st_size - 1) == 1;
    ::close(descriptor);
    return read && last != '\n';
}

} // namespace

bool write_file_atomically(const std::string& path, std::string_view contents, std::string& problem, Disk& disk,
                           OutputUse use) {
    const std::optional<OutputPath> to = find_output(path, use, problem);
    if (!to) return false;
    return to->kind == OutputPath::file ? replace_file(*to, contents, problem, disk)
                                        : write_in_place(*to, contents, problem, disk);
}

std::unique_ptr<LogFile> LogFile::open(const std::string& path, std::string& problem, Disk& disk) {
    const std::optional<OutputPath> to = find_output(path, OutputUse::append, problem);
    if (!to) return nullptr;
    const bool regular = to->kind == OutputPath::file;
    const int descriptor =
        to->kind == OutputPath::descriptor
            ? ::fcntl(to->number, F_DUPFD_CLOEXEC, 0)
            : disk.open(to->path, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC | (regular ? O_CREAT : 0), 0666);
    const bool in_a_line = regular && to->exists && ends_in_a_line(to->path);
    if (descriptor >= 0) return std::unique_ptr<LogFile>(new LogFile(descriptor, regular, in_a_line, disk));
    problem = std::strerror(errno);
    return nullptr;
}

LogFile::~LogFile() { disk_->close(descriptor_); }

bool LogFile::append(std::string_view text, std::string& problem) {
    if (text.empty()) return true;
    struct stat before = {};
    const bool sized = regular_ && ::fstat(descriptor_, &before) == 0;
    const std::string line = (in_a_line_ ? "\n" : "") + std::string(text);
    if (write_all(*disk_, descriptor_, line, problem)) {
        in_a_line_ = false;
        return true;
    }
    if (sized && disk_->ftruncate(descriptor_, before.st_size) != 0) problem += ", and a part of a line remains";
    return false;
}

NewFile::NewFile(const std::string& path, Disk& disk, mode_t mode)
    : disk_(&disk), descriptor_(disk.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)) {
    if (descriptor_ >= 0) return;
    error_ = errno;
    problem_ = std::strerror(error_);
}

NewFile::~NewFile() {
    if (descriptor_ >= 0) disk_->close(descriptor_);
}

void NewFile::append(std::span<const std::byte> bytes) {
    constexpr size_t block = size_t{1} << 20; // summed while it is in cache
    while (problem_.empty() && !bytes.empty()) {
        const std::span<const std::byte> part = bytes.first(std::min(bytes.size(), block));
        if (!write_all(*disk_, descriptor_, {reinterpret_cast<const char*>(part.data()), part.size()}, problem_))
            return;
        sum_.add(part);
        bytes_ += std::ssize(part);
        bytes = bytes.subspan(part.size());
    }
}

void NewFile::append(std::string_view text) { append(std::as_bytes(std::span<const char>(text))); }

bool NewFile::finish() {
    if (descriptor_ < 0) return false;
    if (problem_.empty() && disk_->fsync(descriptor_) != 0) problem_ = std::strerror(errno);
    if (disk_->close(descriptor_) != 0 && problem_.empty()) problem_ = std::strerror(errno);
    descriptor_ = -1;
    return problem_.empty();
}

} // namespace shard
