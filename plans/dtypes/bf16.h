// bfloat16, the upper half of an f32: its range with 8 bits of significand.
#pragma once

#include "plans/dtype/dtype.h"

#include <bit>

namespace shard {

struct Bf16 {
    using Wide = float;
    std::uint16_t bits = 0;
    static constexpr int significand = 8;

    Bf16() = default;
    // Round to nearest even; a NaN stays one.
    explicit Bf16(float value) {
        const std::uint32_t word = std::bit_cast<std::uint32_t>(value);
        const std::uint32_t rounded = (word + 0x7FFFu + ((word >> 16) & 1u)) >> 16;
        const std::uint32_t quiet = (word >> 16) | 0x40u;
        bits = static_cast<std::uint16_t>((word & 0x7FFFFFFFu) > 0x7F800000u ? quiet : rounded);
    }
    explicit operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};

template<>
struct ElementType<DType::bf16> {
    using Element = Bf16;
    static constexpr std::string_view name = "bf16";
    static constexpr std::string_view also[] = {"bfloat16", "bfloat"};
    static constexpr double largest = 0x1.fep127;
};

} // namespace shard
