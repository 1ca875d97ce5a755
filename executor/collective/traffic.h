// How bytes get from one device's arena to another's: the only calls that name both ends. A share
// (executor/collective/share.h) says what it needs in them, whoever carries them out: in memory that the devices share,
// ArenaTraffic; for what lies in another process, messages (executor/collective/messages.h).
#pragma once

#include "executor/elements/strided.h"
#include "plans/sharding/sharding.h"

namespace shard {

class Traffic {
public:
    virtual ~Traffic() = default;
    // A box of elements; dims as for copy_strided.
    virtual void copy_box(std::byte* to, const std::byte* from, i64 element_bytes,
                          const std::vector<CopyDim>& dims) = 0;
    // targets[*][i] = sources[0][i] op sources[1][i] op ..., over a box; in a tree whose shape depends on the number of
    // sources alone; f32 for bf16. A target may be a source (same address).
    virtual void reduce(std::span<std::byte* const> targets, std::span<const std::byte* const> sources, ReduceOp op,
                        DType dtype, const std::vector<CopyDim>& dims) = 0;
    virtual void clear(std::byte* to, i64 bytes) = 0; // to zeros

    void copy(std::byte* to, const std::byte* from, i64 bytes) { copy_box(to, from, 1, {{bytes, 1, 1}}); }
};

// Does it at once, and counts the bytes of the ends that lie outside the own arena: the executor's figure is what was
// moved, not what a formula says.
class ArenaTraffic final : public Traffic {
public:
    ArenaTraffic(const std::byte* arena, i64 arena_bytes) : begin_(arena), end_(arena + arena_bytes) {}

    void copy_box(std::byte* to, const std::byte* from, i64 element_bytes, const std::vector<CopyDim>& dims) override;
    // Works in blocks of 4 KiB that stay in cache.
    void reduce(std::span<std::byte* const> targets, std::span<const std::byte* const> sources, ReduceOp op,
                DType dtype, const std::vector<CopyDim>& dims) override;
    void clear(std::byte* to, i64 bytes) override;

    i64 wire_bytes() const { return wire_bytes_; }

private:
    bool remote(const std::byte* at) const { return at < begin_ || at >= end_; }
    const std::byte* begin_;
    const std::byte* end_;
    i64 wire_bytes_ = 0;
};

// Elements of a box.
i64 elements_of(const std::vector<CopyDim>& dims);

// The same box with one side packed: its elements follow one another, in the order in which the target has them.
std::vector<CopyDim> from_packed(const std::vector<CopyDim>& dims);
std::vector<CopyDim> to_packed(const std::vector<CopyDim>& dims);

} // namespace shard
