#include "tests/support/allocations.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

constexpr std::int64_t never = -1;
std::atomic<std::int64_t> until_refused = never;
std::atomic<bool> is_counting = false;
std::atomic<std::int64_t> bytes = 0, most = 0;
std::atomic<bool> is_bounded = false;
std::atomic<std::int64_t> left = 0;

std::int64_t size_of(void* block) { return static_cast<std::int64_t>(malloc_usable_size(block) + sizeof(size_t)); }

} // namespace

// Global ones cannot be in a namespace. The other forms of new and delete end in these; that without exceptions is
// written out since AddressSanitizer has one of its own, whose blocks these could not free.
void* operator new(size_t size) {
    bool is_refused = until_refused.load(std::memory_order_relaxed) >= 0 && until_refused.fetch_sub(1) == 0;
    if (is_bounded.load(std::memory_order_relaxed)) {
        const std::int64_t asked = size > size_t{1} << 62 ? std::int64_t{1} << 62 : static_cast<std::int64_t>(size);
        is_refused = is_refused || left < asked;
        if (!is_refused) left -= asked;
    }
    void* const block = is_refused ? nullptr : std::malloc(size > 0 ? size : 1);
    if (block == nullptr) {
        if (const std::new_handler handler = std::get_new_handler()) handler(); // ours end the process
        throw std::bad_alloc();
    }
    if (is_counting.load(std::memory_order_relaxed)) {
        const std::int64_t now = bytes += size_of(block);
        if (now > most) most = now; // a count that two threads raise at once may lose a block
    }
    return block;
}

void* operator new(size_t size, const std::nothrow_t&) noexcept {
    try {
        return operator new(size);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

void operator delete(void* block) noexcept {
    if (block != nullptr && is_counting.load(std::memory_order_relaxed)) bytes -= size_of(block);
    std::free(block);
}
void operator delete(void* block, size_t) noexcept { operator delete(block); }

namespace shard {

RefuseAllocation::RefuseAllocation(i64 nth) { until_refused = nth; }
RefuseAllocation::~RefuseAllocation() { until_refused = never; }
bool RefuseAllocation::happened() const { return until_refused < 0; }

CountAllocations::CountAllocations() {
    bytes = most = 0;
    is_counting = true;
}
CountAllocations::~CountAllocations() { is_counting = false; }
i64 CountAllocations::most_bytes() const { return most; }

BoundAllocations::BoundAllocations(i64 bytes_allowed) {
    left = bytes_allowed;
    is_bounded = true;
}
BoundAllocations::~BoundAllocations() { is_bounded = false; }

} // namespace shard
