#include "plans/disk/output_path.h"

#include "plans/base/parse_number.h"
#include "plans/disk/disk.h"
#include "plans/disk/read_inputs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace shard {

namespace {

constexpr int most_links = 40; // as the system follows

std::nullopt_t fail(std::string& problem, int error) {
    problem = std::strerror(error);
    return std::nullopt;
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); } // npos + 1 is 0

// "/proc/self/fd/1", which /dev/stdout leads to, is descriptor 1 itself: to open it again would lose its place.
std::optional<int> own_descriptor(const std::string& path) {
    const std::string name = name_of(path);
    const std::optional<int> number = parse_number<int>(name);
    if (!number) return std::nullopt;
    char resolved[PATH_MAX];
    if (::realpath(folder_of(path).c_str(), resolved) == nullptr) return std::nullopt;
    if (resolved != fmt::format("/proc/{}/fd", ::getpid())) return std::nullopt;
    return number;
}

std::optional<std::string> read_link(const std::string& path) {
    char text[PATH_MAX];
    const ssize_t length = ::readlink(path.c_str(), text, sizeof text);
    if (length < 0) return std::nullopt;
    const std::string to(text, length);
    return to.starts_with('/') ? to : folder_of(path) + "/" + to;
}

// Follows links at the end of the path (the system follows those before), to what may or may not be there.
std::optional<OutputPath> follow(const std::string& path, std::string& problem) {
    OutputPath found;
    found.path = path;
    for (int links = 0; links <= most_links; ++links) {
        if (const std::optional<int> number = own_descriptor(found.path)) {
            found.kind = OutputPath::descriptor;
            found.number = *number;
            found.exists = ::fstat(*number, &found.status) == 0;
            return found;
        }
        if (::lstat(found.path.c_str(), &found.status) != 0) {
            if (errno != ENOENT || name_of(found.path).empty()) return fail(problem, errno);
            found.exists = false;
            return found;
        }
        if (!S_ISLNK(found.status.st_mode)) {
            if (!S_ISREG(found.status.st_mode)) found.kind = OutputPath::in_place;
            return found;
        }
        const std::optional<std::string> to = read_link(found.path);
        if (!to) return fail(problem, errno);
        found.path = *to;
    }
    return fail(problem, ELOOP);
}

bool allowed(const std::string& path, int mode, std::string& problem) {
    if (::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0) return true;
    problem = std::strerror(errno);
    return false;
}

bool is_writable_folder(const std::string& path, std::string& problem) {
    struct stat status = {};
    const bool there = ::stat(path.c_str(), &status) == 0;
    if (there && S_ISDIR(status.st_mode)) return allowed(path, W_OK | X_OK, problem);
    problem = std::strerror(there ? ENOTDIR : errno);
    return false;
}

std::uint64_t attributes_of(const std::string& path) {
    struct statx found = {};
    const bool fine = ::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &found) == 0;
    return fine ? found.stx_attributes : 0;
}

// Another file can be renamed to its name. The folder can be written.
bool is_replaceable(const OutputPath& file, std::string& problem) {
    const std::string folder = folder_of(file.path);
    struct stat status = {};
    if ((attributes_of(folder) & STATX_ATTR_APPEND) != 0) {
        problem = "files of its folder cannot be replaced (chattr +a)";
    } else if (!file.exists) {
        return true;
    } else if ((attributes_of(file.path) & STATX_ATTR_APPEND) != 0) {
        problem = "it can only be appended to (chattr +a)";
    } else if ((attributes_of(file.path) & STATX_ATTR_MOUNT_ROOT) != 0) {
        problem = "it is a mount of its own, which cannot be replaced: mount its folder";
    } else if (::stat(folder.c_str(), &status) == 0 && (status.st_mode & S_ISVTX) != 0 && ::geteuid() != 0 &&
               ::geteuid() != status.st_uid && ::geteuid() != file.status.st_uid) {
        problem = "only its owner can replace it: its folder is sticky";
    } else {
        return true;
    }
    return false;
}

} // namespace

std::optional<OutputPath> find_output(const std::string& path, OutputUse use, std::string& problem) {
    std::optional<OutputPath> found = follow(path, problem);
    if (!found) return std::nullopt;
    if (use != OutputUse::renew && found->exists && is_input(found->status)) {
        problem = "it was read as an input";
        return std::nullopt;
    }
    if (found->kind == OutputPath::descriptor) {
        const int flags = ::fcntl(found->number, F_GETFL);
        if (flags < 0) return fail(problem, errno);
        if ((flags & O_ACCMODE) == O_RDONLY) return fail(problem, EBADF);
        return found;
    }
    if (found->exists) {
        const mode_t mode = found->status.st_mode;
        if (S_ISDIR(mode)) return fail(problem, EISDIR);
        if (S_ISSOCK(mode) || (S_ISFIFO(mode) && use == OutputUse::renew)) {
            problem = S_ISSOCK(mode) ? "it is a socket" : "it is a pipe, where nothing is left to write over";
            return std::nullopt;
        }
        if (found->kind == OutputPath::file && (mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0) {
            problem = "it is read-only";
            return std::nullopt;
        }
        if (!allowed(found->path, W_OK, problem)) return std::nullopt;
    }
    const bool makes = found->kind == OutputPath::file && (use != OutputUse::append || !found->exists);
    if (makes && !is_writable_folder(folder_of(found->path), problem)) return std::nullopt;
    if (makes && use != OutputUse::append && !is_replaceable(*found, problem)) return std::nullopt;
    return found;
}

bool check_output(const std::string& path, OutputUse use, std::string& problem) {
    if (use != OutputUse::folder) return find_output(path, use, problem).has_value();
    struct stat status = {};
    const std::string parent = folder_of(path);
    if (::stat(path.c_str(), &status) != 0 && errno == ENOENT && parent != path) {
        if (::lstat(path.c_str(), &status) != 0) return check_output(parent, use, problem);
        problem = std::strerror(ENOENT); // a link to nowhere
        return false;
    }
    return is_writable_folder(path, problem);
}

std::optional<FileIdentity> identity_of(const std::string& path) {
    std::string problem;
    const std::optional<OutputPath> found = follow(path, problem);
    if (!found || found->kind == OutputPath::in_place) return std::nullopt;
    if (found->kind == OutputPath::descriptor) return identity_of(found->number);
    if (found->exists) return FileIdentity{found->status.st_dev, found->status.st_ino};
    struct stat status = {};
    if (::stat(folder_of(found->path).c_str(), &status) != 0) return std::nullopt;
    return FileIdentity{status.st_dev, status.st_ino, name_of(found->path)};
}

std::optional<FileIdentity> identity_of(int descriptor) {
    struct stat status = {};
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    return FileIdentity{status.st_dev, status.st_ino};
}

bool is_descriptor(const std::string& path) {
    std::string problem;
    const std::optional<OutputPath> found = follow(path, problem);
    return found && found->kind == OutputPath::descriptor;
}

bool is_input(const std::string& path) {
    std::string problem;
    const std::optional<OutputPath> found = follow(path, problem);
    return found && found->exists && is_input(found->status);
}

} // namespace shard
