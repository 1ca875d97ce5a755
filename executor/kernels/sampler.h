// Draws one device's shard of a random array. Every element is a function of (distribution, key, bit layout, global
// shape, its place in the array) alone: the shards of any sharding are slices of the same array, and no device needs
// another's values. The values are those of jax.random with float32 types on CPU, bit for bit.
//
// Samples are float32 whatever the result's type; wider and narrower results are converted from that (so a float64
// array holds float32 values, and a bfloat16 array holds float32 values rounded to nearest even). JAX would draw other
// bits for those types.
//
//     sample(distribution, key, layout, {.global_shape = {{8, 4}}, .start = {{2, 0}}, .local_shape = {{2, 4}}}, out);
//     // rows 2 and 3 of the (8, 4) array
#pragma once

#include "plans/random/distribution.h"
#include "plans/random/random.h"

#include <span>

namespace shard {

// A box of a row-major array. The three have one entry per dim; a scalar has none.
struct SampleBox {
    std::span<const i64> global_shape;
    std::span<const i64> start;
    std::span<const i64> local_shape;
};

// out is the box in row-major order; `multiplier` is that of Random. T: the elements of any type (plans/dtype/dtype.h).
// uniform, normal and truncated_normal need a floating-point one. Uses a few KiB of stack and no other memory.
template<typename T>
void sample(const Distribution& distribution, Key key, BitLayout layout, const SampleBox& box, std::span<T> out,
            std::uint32_t multiplier = 1);

} // namespace shard
