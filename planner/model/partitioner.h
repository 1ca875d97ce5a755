// Whose choices a plan follows.
#pragma once

namespace shard {

// shardc's own, by price; or those of XLA's SPMD partitioner on the same annotations, as jit would make them.
enum class Partitioner { shardc, xla };

} // namespace shard
