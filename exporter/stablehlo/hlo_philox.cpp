#include "exporter/stablehlo/hlo_philox.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

using Words = std::array<HloValue, 4>;

class Philox {
public:
    Philox(HloOps& ops, const Shape& shape) : ops_(ops), shape_(shape) {}

    // The block of four words that each place is in: (k2, k3, k0, k1) + place / 4, a number of 128 bits.
    Words block(const Words& key, const HloValue& place) {
        HloValue carry = ops_.pointwise("stablehlo.shift_right_logical", {place, word(2)});
        Words made;
        for (size_t n = 0; n < 4; ++n) {
            const HloValue& added = key[(n + 2) % 4];
            made[n] = ops_.pointwise("stablehlo.add", {carry, added});
            if (n < 3) carry = ops_.convert(ops_.less({made[n], added}), DType::u32);
        }
        return made;
    }

    Words rounds(Words block, std::array<HloValue, 2> key) {
        for (int round = 0; round < 10; ++round) {
            const auto [a_high, a_low] = product(block[0], 0xD2511F53);
            const auto [b_high, b_low] = product(block[2], 0xCD9E8D57);
            block = {mixed(b_high, block[1], key[0]), b_low, mixed(a_high, block[3], key[1]), a_low};
            if (round == 9) break;
            key = {ops_.pointwise("stablehlo.add", {key[0], word(0x9E3779B9)}),
                   ops_.pointwise("stablehlo.add", {key[1], word(0xBB67AE85)})};
        }
        return block;
    }

    HloValue chosen(const Words& block, const HloValue& place) {
        const HloValue number = ops_.pointwise("stablehlo.and", {place, word(3)});
        HloValue bits = block[3];
        for (std::uint32_t n = 3; n-- > 0;) {
            const HloValue is_this = ops_.less({number, word(n + 1)});
            bits = ops_.pointwise("stablehlo.select", {is_this, block[n], bits});
        }
        return bits;
    }

private:
    HloValue word(std::uint32_t value) { return ops_.constant(std::to_string(value), DType::u32, shape_); }

    std::pair<HloValue, HloValue> product(const HloValue& x, std::uint32_t factor) {
        const HloValue wide = ops_.convert(x, DType::u64);
        const HloValue by = ops_.constant(std::to_string(factor), DType::u64, shape_);
        const HloValue whole = ops_.pointwise("stablehlo.multiply", {wide, by});
        const HloValue places = ops_.constant("32", DType::u64, shape_);
        const HloValue high = ops_.pointwise("stablehlo.shift_right_logical", {whole, places});
        const HloValue high_word = ops_.convert(high, DType::u32);
        return {high_word, ops_.convert(whole, DType::u32)};
    }

    HloValue mixed(const HloValue& a, const HloValue& b, const HloValue& c) {
        const HloValue both = ops_.pointwise("stablehlo.xor", {a, b});
        return ops_.pointwise("stablehlo.xor", {both, c});
    }

    HloOps& ops_;
    const Shape& shape_;
};

} // namespace

HloValue hlo_rbg_bits(const Words& key, const HloValue& place, HloOps& ops) {
    const Shape& shape = place.shape;
    const std::string name = shape.empty() ? "rbg_bits" : fmt::format("rbg_bits_{}", fmt::join(shape, "x"));
    HloValues arguments;
    for (const std::string_view word : {"%k0", "%k1", "%k2", "%k3"})
        arguments.push_back({std::string(word), DType::u32, {}});
    arguments.push_back({"%place", DType::u32, shape});
    ops.functions().define(name, arguments, [&](HloOps& inside) -> HloValues {
        Philox philox(inside, shape);
        Words words;
        for (size_t n = 0; n < words.size(); ++n) words[n] = inside.filled(arguments[n], shape);
        const Words block = philox.block(words, arguments[4]);
        return {philox.chosen(philox.rounds(block, {words[0], words[1]}), arguments[4])};
    });
    return ops.call(name, {key[0], key[1], key[2], key[3], place}, {place})[0];
}

} // namespace shard
