#include "executor/devices/arenas.h"

#include "executor/devices/memory_checks.h"
#include "plans/base/division.h"

#include <sys/mman.h>

#include <algorithm>
#include <limits>

namespace shard {

namespace {

constexpr i64 line = 64, page = 4096, skew_lines = 5;

// An odd number of lines, so that no two of the arenas of a page's worth share a cache set.
i64 stride_of(i64 bytes) {
    if (bytes < page) return ((ceil_div(bytes, line) + 1) | 1) * line;
    return round_up(bytes, page) + skew_lines * line;
}

i64 host_begin(const Plan& plan) { return round_up(plan.arena_bytes, line); }

} // namespace

i64 memory_bytes(const Plan& plan) {
    return plan.host_arena_bytes > 0 ? host_begin(plan) + plan.host_arena_bytes : plan.arena_bytes;
}

i64 place_of(const Plan& plan, const Buffer& buffer) {
    return buffer.on_host ? host_begin(plan) + buffer.offset : buffer.offset;
}

i64 Arenas::total_bytes(i64 devices, i64 bytes_per_device) {
    const i64 limit = std::numeric_limits<i64>::max() / 2;
    if (bytes_per_device > limit - 2 * page) return limit;
    const i64 stride = stride_of(bytes_per_device);
    return devices > limit / stride ? limit : devices * stride;
}

bool Arenas::allocate(i64 devices, i64 bytes_per_device, i64 first, i64 held) {
    internal_check(base_ == nullptr, "arenas are allocated once");
    internal_check(first >= 0 && held > 0 && first + held <= devices, "arenas of no devices");
    const i64 total = total_bytes(devices, bytes_per_device), stride = stride_of(bytes_per_device);
    const int use = held == devices ? PROT_READ | PROT_WRITE : PROT_NONE;
    void* memory = mmap(nullptr, total, use, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    base_ = static_cast<std::byte*>(memory);
    bytes_ = bytes_per_device;
    stride_ = stride;
    mapped_ = total;
    const i64 begin = first * stride / page * page, end = std::min(round_up((first + held) * stride, page), total);
    if (held < devices && mprotect(base_ + begin, end - begin, PROT_READ | PROT_WRITE) != 0) return false;
    madvise(base_ + begin, end - begin, MADV_HUGEPAGE); // a hint: fewer page faults and TLB misses
    forbid_bytes(base_, mapped_);
    return true;
}

Arenas::~Arenas() {
    if (base_ == nullptr) return;
    allow_bytes(base_, mapped_); // the addresses may be given to someone else
    munmap(base_, mapped_);
}

} // namespace shard
