#include "tests/support/op_harness.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>

namespace shard {

TEST_CASE("bits: whole numbers of one type alone") {
    for (const char* op : {"bit_and", "bit_or", "bit_xor", "shift_left", "shift_right"}) {
        CAPTURE(op);
        CHECK(shape_of(op, {typed(DType::u8, {4, 2}), typed(DType::u8, {2})}) == "u8(4, 2)");
        CHECK(shape_of(op, {typed(DType::i32, {2}), f32({2})}).find("error E0224") == 0);
        CHECK(shape_of(op, {typed(DType::boolean, {2}), typed(DType::boolean, {2})}).find("error E0224") == 0);
    }
    CHECK(shape_of("bit_not", {typed(DType::i64, {4})}) == "i64(4,)");
}

TEST_CASE("bits: what is split gives the same as on one device, and as the definition") {
    CHECK(prove(R"(model: m
axes: {a: 8, b: 16}
inputs:
  x: {axes: [a, b], dtype: i32, init: {randint: {low: -1000, high: 1000}}}
  y: {axes: [a, b], dtype: i32, init: {randint: {low: -1000, high: 1000}}}
  n: {axes: [b], dtype: i32, init: {randint: {low: 0, high: 12}}}
graph:
  - and: {bit_and: [x, y]}
  - or: {bit_or: [x, y]}
  - xor: {bit_xor: [x, 255]}
  - not: {bit_not: x}
  - left: {shift_left: [x, n]}
  - right: {shift_right: [x, n]}
  - positive: {gt: [x, 0]}
  - every: {reduce_and: positive, dim: b}
  - some: {reduce_or: positive}
outputs: [and, or, xor, not, left, right, every, some]
)",
                "mesh: {d: 2, m: 2}\nrules: [{a: d}, {b: m}]\n") == std::vector<std::string>{});
}

TEST_CASE("bits: of a number as those of another type of its size") {
    CHECK(shape_of("bitcast", {f32({2, 3})}, {{"dtype", "u32"}}) == "u32(2, 3)");
    CHECK(shape_of("bitcast", {typed(DType::u16, {2})}, {{"dtype", "bf16"}}) == "bf16(2,)");
    CHECK(
        shape_of("bitcast", {f32({2})}, {{"dtype", "u16"}}).find("error E0224: f32 has numbers of 4 bytes, u16 of 2") ==
        0);
    CHECK(shape_of("bitcast", {typed(DType::boolean, {2})}, {{"dtype", "u8"}}).find("error E0224") == 0);
    CHECK(shape_of("bitcast", {typed(DType::u8, {2})}, {{"dtype", "bool"}}).find("error E0224") == 0);
}

// Exponent and sign taken out of floats by their bits, and put together again.
TEST_CASE("bits: floats in parts, on every layout as on one device") {
    CHECK(prove(R"(model: m
axes: {a: 8, b: 16}
inputs:
  x: {axes: [a, b], init: normal}
graph:
  - raw: {bitcast: x, dtype: u32}
  - shifted: {shift_right: [raw, 23]}
  - biased: {bit_and: [shifted, 255]}
  - below: {bit_and: [raw, 8388607]}
  - scaled: {bit_or: [below, 1065353216]}
  - mantissa: {bitcast: scaled, dtype: f32}
  - again: {bitcast: raw, dtype: f32}
  - same: {eq: [again, x]}
  - every: {reduce_and: same}
outputs: [biased, mantissa, every]
)",
                "mesh: {d: 2, m: 2}\nrules: [{a: d}, {b: m}]\n") == std::vector<std::string>{});
}

} // namespace shard
