// The only code that touches another device's arena. Every call says from where to where, and counts the bytes of the
// ends that lie outside the own arena: the executor's figure is what was moved, not what a formula says.
#pragma once

#include "executor/elements/strided.h"
#include "plans/sharding/sharding.h"

namespace shard {

class Traffic {
public:
    Traffic(const std::byte* arena, i64 arena_bytes) : begin_(arena), end_(arena + arena_bytes) {}

    void copy(std::byte* to, const std::byte* from, i64 bytes);
    // A box of elements; dims as for copy_strided.
    void copy_box(std::byte* to, const std::byte* from, i64 element_bytes, const std::vector<CopyDim>& dims);
    // targets[*][i] = sources[0][i] op sources[1][i] op ..., in a tree whose shape depends on the number of sources
    // alone; f32 for bf16. Works in blocks of 4 KiB that stay in cache. A target may be a source (same address).
    void reduce(std::span<std::byte* const> targets, std::span<const std::byte* const> sources, ReduceOp op,
                DType dtype, i64 count);

    i64 wire_bytes() const { return wire_bytes_; }

private:
    bool remote(const std::byte* at) const { return at < begin_ || at >= end_; }
    const std::byte* begin_;
    const std::byte* end_;
    i64 wire_bytes_ = 0;
};

} // namespace shard
