// An affine expression over mesh coordinates, loop indices and scalar buffers: the only way in which the devices'
// copies of a step may differ. Slice starts, masks, iota and random offsets are written in it.
//
//     start of dim 0 of a (8, 1024) value sharded [data | -] on data 2:  4*data
#pragma once

#include "plans/sharding/sharding.h"

#include <limits>

namespace shard {

struct AffineTerm {
    enum class Kind { coordinate, loop, scalar };
    Kind kind = Kind::coordinate;
    AxisRef axis;   // coordinate: of this (sub-)axis
    int index = -1; // loop: the loop's index id; scalar: the buffer's id (an integer scalar)
    i64 coefficient = 1;
    // scalar: its value is clamped to [low, high] first
    i64 low = std::numeric_limits<i64>::min(), high = std::numeric_limits<i64>::max();
    bool operator==(const AffineTerm&) const = default;
};

struct Affine {
    i64 constant = 0;
    std::vector<AffineTerm> terms;
    bool is_constant() const { return terms.empty(); }
    bool operator==(const Affine&) const = default;
};

// What a device knows when it evaluates: its coordinates, the running loop indices by id, and scalar buffers.
struct AffineContext {
    const Mesh* mesh = nullptr;
    std::span<const i64> coordinates;
    std::span<const i64> loops;
    i64 (*scalar)(const void* state, int buffer) = nullptr;
    const void* state = nullptr;
};

// The constant, and every coefficient times what its term is on this device and in this trip.
i64 evaluate(const Affine& affine, const AffineContext& context);
Affine operator+(Affine a, const Affine& b);
Affine operator*(Affine a, i64 factor);
Affine constant(i64 value); // without terms
// Start, in elements, of the local block along one dim of global size `size` sharded over `axes`.
Affine block_start(i64 size, std::span<const AxisRef> axes);
std::string text(const Mesh& mesh, const Affine& affine);

} // namespace shard
