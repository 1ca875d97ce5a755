#include "plans/disk/free_space.h"

#include "plans/base/saturating.h"
#include "plans/base/units.h"
#include "plans/disk/disk.h"
#include "plans/disk/output_path.h"
#include "plans/disk/temporaries.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <optional>
#include <set>

namespace shard {

namespace {

// The nearest folder that is there.
std::string standing_folder(std::string folder) {
    struct stat status = {};
    while (::stat(folder.c_str(), &status) != 0 && errno == ENOENT && folder_of(folder) != folder)
        folder = folder_of(folder);
    return folder;
}

struct FileSystem {
    dev_t device = 0;
    i64 free = 0;
};

std::optional<FileSystem> file_system_of(const std::string& folder) {
    struct stat status = {};
    struct statvfs room = {};
    if (::stat(folder.c_str(), &status) != 0 || ::statvfs(folder.c_str(), &room) != 0) return std::nullopt;
    if (room.f_blocks == 0) return std::nullopt; // of no size: it does not say
    const fsblkcnt_t blocks = ::geteuid() == 0 ? room.f_bfree : room.f_bavail;
    constexpr i64 most = i64{1} << 62;
    const i64 count = blocks > static_cast<fsblkcnt_t>(most) ? most : static_cast<i64>(blocks);
    return FileSystem{status.st_dev, multiply_saturating(count, static_cast<i64>(room.f_frsize))};
}

i64 most_in_a_file() {
    rlimit limit = {};
    const bool limited = ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    constexpr i64 most = i64{1} << 62;
    return limited && limit.rlim_cur < static_cast<rlim_t>(most) ? static_cast<i64>(limit.rlim_cur) : most;
}

} // namespace

bool have_room(std::span<const PlannedFile> files, std::string& path, std::string& problem) {
    std::map<dev_t, i64> free;
    std::set<std::string> swept;
    const i64 most = most_in_a_file();
    for (const PlannedFile& file : files) {
        std::string ignored;
        const std::optional<OutputPath> to = find_output(file.path, OutputUse::renew, ignored);
        const bool there = to && to->exists;
        if (there && to->kind != OutputPath::file) continue;
        path = file.path;
        if (file.bytes > most) {
            problem = fmt::format("File too large: it will have {}, and the process may write {} (ulimit -f)",
                                  exact_bytes(file.bytes), exact_bytes(most));
            return false;
        }
        const std::string folder = standing_folder(folder_of(to ? to->path : file.path));
        if (swept.insert(folder).second) remove_stale_temporaries(disk(), folder); // as who writes there will
        const std::optional<FileSystem> system = file_system_of(folder);
        if (!system) continue;
        i64& left = free.try_emplace(system->device, system->free).first->second;
        if (file.bytes > left) {
            problem = fmt::format("No space left on device: it will have {}, and {} are free", exact_bytes(file.bytes),
                                  exact_bytes(left));
            return false;
        }
        left -= file.bytes;
        if (there && to->status.st_nlink == 1) left += i64{to->status.st_blocks} * 512; // of the one that it replaces
    }
    return true;
}

} // namespace shard
