// Functions that are compiled twice, once for vector registers wider than those of every x86-64. SHARD_WIDE stands before
// a function that calls an inlined one; who has asked has_wide_registers() may call it. On other machines it stands for
// nothing.
#pragma once

#if defined(__x86_64__)
#define SHARD_WIDE [[gnu::target("avx2")]]
#else
#define SHARD_WIDE
#endif

namespace shard {

inline bool has_wide_registers() {
#if defined(__x86_64__)
    static const bool wide = __builtin_cpu_supports("avx2");
    return wide;
#else
    return false;
#endif
}

} // namespace shard
