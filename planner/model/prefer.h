// What a layout prefers where there are several ways.
#pragma once

namespace shard {

// What counts before seconds: bytes that devices send, what a device computes, the memory that it needs.
enum class Prefer { time, bytes, compute, memory };

} // namespace shard
