// Work whose parts share nothing, on all cores.
#pragma once

#include <cstddef>
#include <functional>

namespace shard {

// work(0) ... work(count - 1), in any order and at once. The first of them that throws, by its number, is what this
// throws, after all have ended. Where the system has no more threads, fewer do; under a limit of address space, one.
void in_parallel(size_t count, const std::function<void(size_t)>& work);

} // namespace shard
