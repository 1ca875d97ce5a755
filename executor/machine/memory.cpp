#include "executor/machine/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <vector>

namespace shard {

namespace {

std::optional<i64> read_number(std::string_view text) {
    i64 value = 0;
    const std::from_chars_result end = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end.ec != std::errc()) return std::nullopt; // "max", or nothing
    return value;
}

// The first word of a file as a number.
std::optional<i64> number_in(const std::string& path) {
    std::ifstream file(path);
    std::string word;
    file >> word;
    return read_number(word);
}

// The number behind a key, one pair a line: "MemAvailable: 12 kB", "inactive_file 4096".
std::optional<i64> number_in(const std::string& path, std::string_view key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string first, second;
        if (words >> first >> second && first == key) return read_number(second);
    }
    return std::nullopt;
}

void take_least(Memory& memory, std::optional<i64> bytes, std::string_view limited_by) {
    if (!bytes) return;
    *bytes = std::max<i64>(*bytes, 0);
    if (memory.bytes < 0 || *bytes < memory.bytes) memory = {*bytes, limited_by};
}

bool holds_word(std::string_view list, std::string_view word) {
    while (!list.empty()) {
        const std::string_view first = list.substr(0, list.find(','));
        if (first == word) return true;
        list.remove_prefix(std::min(first.size() + 1, list.size()));
    }
    return false;
}

// The two versions of cgroups name the same things.
struct CgroupNames {
    std::string_view controller; // in /proc/self/cgroup; of version 2 nothing
    std::string_view file_system;
    std::string_view limit, used, cache; // cache: in memory.stat, of the group and those in it
};
constexpr CgroupNames versions[] = {
    {"", "cgroup2", "memory.max", "memory.current", "inactive_file"},
    {"memory", "cgroup", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}};

// The path of the process's group, as /proc/self/cgroup has it: "4:memory:/docker/12ab".
std::optional<std::string> group_of(const std::string& root, const CgroupNames& names) {
    std::ifstream file(root + "/proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {
        const size_t first = line.find(':'), second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
        if (names.controller.empty() ? line.starts_with("0::") : holds_word(controllers, names.controller))
            return line.substr(second + 1);
    }
    return std::nullopt;
}

struct Mount {
    std::string point;
    std::string top; // the group that is there
};

// From /proc/self/mountinfo: "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory".
std::optional<Mount> mount_of(const std::string& root, const CgroupNames& names) {
    std::ifstream file(root + "/proc/self/mountinfo");
    for (std::string line; std::getline(file, line);) {
        const size_t dash = line.find(" - ");
        if (dash == std::string::npos) continue;
        std::istringstream left(line.substr(0, dash)), right(line.substr(dash + 3));
        std::string skipped, type, options;
        Mount mount;
        left >> skipped >> skipped >> skipped >> mount.top >> mount.point;
        right >> type >> skipped >> options;
        if (type == names.file_system && (names.controller.empty() || holds_word(options, names.controller)))
            return mount;
    }
    return std::nullopt;
}

// The group and those around it, as far as they can be seen. In a container the path may begin above the mount.
void take_cgroups(const std::string& root, const CgroupNames& names, Memory& memory) {
    const std::optional<Mount> mount = mount_of(root, names);
    std::optional<std::string> group = group_of(root, names);
    if (!mount || !group) return;
    if (mount->top != "/" && group->starts_with(mount->top)) group->erase(0, mount->top.size());
    while (group->ends_with('/')) group->pop_back();
    for (;;) {
        const std::string folder = root + mount->point + *group + "/";
        const std::optional<i64> limit = number_in(folder + std::string(names.limit));
        const std::optional<i64> used = number_in(folder + std::string(names.used));
        const i64 cache = number_in(folder + "memory.stat", names.cache).value_or(0);
        if (limit && used) take_least(memory, *limit - std::max<i64>(*used - cache, 0), "its cgroup has");
        if (group->empty()) return;
        group->erase(group->rfind('/') == std::string::npos ? 0 : group->rfind('/'));
    }
}

// What the process has mapped (/proc/self/statm, in pages), all and its own data.
void take_limits(const std::string& root, const ProcessLimits& limits, Memory& memory) {
    std::ifstream file(root + "/proc/self/statm");
    i64 all = 0, resident = 0, shared = 0, text = 0, library = 0, data = 0;
    if (!(file >> all >> resident >> shared >> text >> library >> data)) return;
    const i64 page = ::sysconf(_SC_PAGESIZE);
    if (limits.address_space >= 0) take_least(memory, limits.address_space - all * page, "`ulimit -v` leaves");
    if (limits.data >= 0) take_least(memory, limits.data - data * page, "`ulimit -d` leaves");
}

i64 limit_of(rlimit limit) {
    constexpr rlim_t most = static_cast<rlim_t>(INT64_MAX);
    return limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > most ? -1 : static_cast<i64>(limit.rlim_cur);
}

} // namespace

ProcessLimits process_limits() {
    rlimit space = {RLIM_INFINITY, RLIM_INFINITY}, data = space;
    ::getrlimit(RLIMIT_AS, &space);
    ::getrlimit(RLIMIT_DATA, &data);
    return {limit_of(space), limit_of(data)};
}

Memory available_memory(const std::string& root, const ProcessLimits& limits) {
    Memory memory;
    if (const std::optional<i64> kibibytes = number_in(root + "/proc/meminfo", "MemAvailable:"))
        take_least(memory, *kibibytes * 1024, "this machine has");
    for (const CgroupNames& names : versions) take_cgroups(root, names, memory);
    take_limits(root, limits, memory);
    return memory;
}

std::optional<Memory> too_little_memory(i64 needed, const std::string& root, const ProcessLimits& limits) {
    constexpr i64 taken_to_be_there = 1 << 20;
    if (needed <= taken_to_be_there) return std::nullopt;
    const Memory available = available_memory(root, limits);
    if (available.bytes < 0 || needed <= available.bytes) return std::nullopt;
    return available;
}

bool can_map(i64 bytes) {
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    ::munmap(memory, bytes);
    return true;
}

} // namespace shard
