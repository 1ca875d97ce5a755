// In which way attention whose sequence is split over devices comes to the keys that other devices hold.
#pragma once

#include "plans/base/base.h"

#include <optional>
#include <string_view>

namespace shard {

// gather      every device gathers all keys and values (what the partitioner does by itself)
// ring        blocks of keys and values pass from device to device; none holds them all
// zigzag      the same, with the sequence in zigzag order meanwhile, so that under a causal mask all have as much to do
// all_to_all  the split of the sequence is exchanged for one of the heads, and back
// combine     of queries that all devices have: each attends to the keys that it holds, and the results are put together
enum class SequenceWay { gather, ring, zigzag, all_to_all, combine };
inline constexpr std::string_view sequence_way_names[] = {"gather", "ring", "zigzag", "all_to_all", "combine"};
inline std::string_view name(SequenceWay way) { return sequence_way_names[static_cast<size_t>(way)]; }

} // namespace shard
