// Work whose parts share nothing, on all cores.
#pragma once

#include <cstddef>
#include <functional>

namespace shard {

// The machine's cores; one under a limit of address space, where each further thread asks for a stack, and for memory
// that the allocator keeps for it.
size_t useful_threads();

// work(0) ... work(count - 1), in any order and at once. The first of them that throws, by its number, is what this
// throws, after all have ended. On useful_threads(), fewer where the system has no more.
void in_parallel(size_t count, const std::function<void(size_t)>& work);

} // namespace shard
