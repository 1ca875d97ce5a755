// How much memory there is: what the machine, the process's cgroups and its resource limits leave.
#pragma once

#include "plans/base/base.h"

#include <optional>
#include <string>
#include <string_view>

namespace shard {

struct Memory {
    i64 bytes = -1;              // that can still be had; -1: nobody says
    std::string_view limited_by; // for people: "this machine has", "the cgroup's limit leaves"
};

// Limits of a process: bytes it may map in all, and of those that are its own data. -1: no limit. What it uses of them
// is in /proc.
struct ProcessLimits {
    i64 address_space = -1; // RLIMIT_AS, ulimit -v
    i64 data = -1;          // RLIMIT_DATA, ulimit -d
};
ProcessLimits process_limits();

// The least of what is free by the system's estimate (/proc/meminfo), what the process's memory cgroups and those
// around them leave (version 1 and 2; the page cache that they count can be dropped), and what its limits leave.
// `root` stands before every path that is read: empty, or the folder of a test.
Memory available_memory(const std::string& root, const ProcessLimits& limits);

// What there is, if it is less than what is needed. Asking reads a dozen files, so a mebibyte is taken to be there: who
// gets none of it sees the allocation fail.
std::optional<Memory> too_little_memory(i64 needed, const std::string& root = {},
                                        const ProcessLimits& limits = process_limits());

// Whether the process would be given this many bytes of address space now.
bool can_map(i64 bytes);

} // namespace shard
