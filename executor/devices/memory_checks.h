// Tells AddressSanitizer, in builds that have it, which bytes of the arenas nobody may use now: what lies between
// arenas, and extents that hold no buffer. An arena is one allocation, so without this a kernel that strays into its
// neighbour would go unseen. In other builds these do nothing.
#pragma once

#include "plans/base/base.h"

#include <cstddef>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define SHARDC_CHECKS_MEMORY 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define SHARDC_CHECKS_MEMORY 1
#endif
#ifdef SHARDC_CHECKS_MEMORY
#include <sanitizer/asan_interface.h>
#endif

namespace shard {

inline void forbid_bytes([[maybe_unused]] const std::byte* data, [[maybe_unused]] i64 bytes) {
#ifdef SHARDC_CHECKS_MEMORY
    __asan_poison_memory_region(data, bytes);
#endif
}

inline void allow_bytes([[maybe_unused]] const std::byte* data, [[maybe_unused]] i64 bytes) {
#ifdef SHARDC_CHECKS_MEMORY
    __asan_unpoison_memory_region(data, bytes);
#endif
}

} // namespace shard
