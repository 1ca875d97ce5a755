#include "exporter/stablehlo/hlo_random.h"

#include "exporter/stablehlo/hlo_lookup.h"
#include "exporter/stablehlo/hlo_philox.h"
#include "exporter/stablehlo/hlo_sampler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

HloValue word(std::uint32_t value, const Shape& shape, HloOps& ops) {
    return ops.constant(std::to_string(value), DType::u32, shape);
}
HloValue add(const HloValues& operands, HloOps& ops) { return ops.pointwise("stablehlo.add", operands); }
HloValue exclusive_or(const HloValues& operands, HloOps& ops) { return ops.pointwise("stablehlo.xor", operands); }

// The cipher Threefry2x32 with 20 rounds.
HloKey threefry_rounds(const HloKey& key, const HloKey& block, HloOps& ops) {
    constexpr std::uint32_t turns[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    const Shape& shape = block[0].shape;
    const HloValue mixed = exclusive_or({exclusive_or({key[0], key[1]}, ops), word(0x1BD11BDA, shape, ops)}, ops);
    const std::array<HloValue, 3> keys = {key[0], key[1], mixed};
    HloValue x0 = add({block[0], keys[0]}, ops), x1 = add({block[1], keys[1]}, ops);
    for (std::uint32_t group = 0; group < 5; ++group) {
        for (std::uint32_t turn : turns[group % 2]) {
            x0 = add({x0, x1}, ops);
            const HloValue high = ops.pointwise("stablehlo.shift_left", {x1, word(turn, shape, ops)});
            const HloValue low = ops.pointwise("stablehlo.shift_right_logical", {x1, word(32 - turn, shape, ops)});
            x1 = exclusive_or({ops.pointwise("stablehlo.or", {high, low}), x0}, ops);
        }
        x0 = add({x0, keys[(group + 1) % 3]}, ops);
        x1 = add({add({x1, keys[(group + 2) % 3]}, ops), word(group + 1, shape, ops)}, ops);
    }
    return {x0, x1};
}

HloKey filled(const HloKey& key, const Shape& shape, HloOps& ops) {
    return {ops.filled(key[0], shape), ops.filled(key[1], shape)};
}

// What is drawn: the places of a block in an array that may be one of several.
class Draw {
public:
    Draw(const Random& random, const Generate& kernel, const Shape& block, HloBody& body)
        : random_(random), sizes_(kernel.shape), block_(block), ops_(body.ops()) {
        for (size_t d = 0; d < sizes_.size(); ++d) {
            index_.push_back(ops_.iota(static_cast<i64>(d), DType::u32, block));
            const Affine& start = kernel.start[d];
            if (start.is_constant() && start.constant == 0) continue;
            const HloValue first = ops_.filled(ops_.convert(body.affine(start), DType::u32), block);
            index_.back() = add({index_.back(), first}, ops_);
        }
        std::array<HloValue, 4> words;
        for (size_t n = 0; n < random.words.size(); ++n)
            words[n] = ops_.convert(body.affine(random.words[n]), DType::u32);
        if (random.layout == BitLayout::rbg) {
            drawn_ = hlo_rbg_bits(words, number_of(index_, sizes_), ops_);
            return;
        }
        HloKey key = {words[0], words[1]};
        if (random.words.empty()) key = {word(random.key.k0, {}, ops_), word(random.key.k1, {}, ops_)};
        for (const Affine& fold : random.folds)
            key = hlo_fold_in(key, ops_.convert(body.affine(fold), DType::u32), ops_);
        key_ = filled(key, block, ops_);
        if (!random.layers.empty()) take_keys_of_layers();
        if (!random.blocks.empty()) fold_in_blocks();
        place_ = number_of(index_, sizes_);
        for (i64 size : sizes_) total_ *= size;
    }

    // The words of each element that the distribution needs.
    HloValues words(int count) {
        if (drawn_) return {*drawn_};
        if (count == 1) return {bits(key_)};
        const HloKey zero = filled({word(0, {}, ops_), word(0, {}, ops_)}, block_, ops_);
        const auto lane = [&](std::uint32_t first, std::uint32_t second) {
            return hlo_threefry(key_, {word(first, block_, ops_), word(second, block_, ops_)}, ops_);
        };
        if (random_.layout == BitLayout::partitionable) return {bits(lane(0, 0)), bits(lane(0, 1))};
        const HloKey first = lane(0, 2), second = lane(1, 3);
        return {bits({first[0], second[0]}), bits({first[1], second[1]})};
    }

private:
    // Of an element by its indices, row-major.
    HloValue number_of(std::span<const HloValue> index, std::span<const i64> sizes) {
        if (index.empty()) return word(0, block_, ops_);
        HloValue number = index[0];
        for (size_t d = 1; d < index.size(); ++d) {
            const HloValue size = word(static_cast<std::uint32_t>(sizes[d]), block_, ops_);
            number = add({ops_.pointwise("stablehlo.multiply", {number, size}), index[d]}, ops_);
        }
        return number;
    }

    // The first dims are entries of a stack, each an array of its own with its key.
    void take_keys_of_layers() {
        const size_t stacks = *stack_dims(sizes_, random_.layers.size());
        const HloValue number = number_of(std::span(index_).first(stacks), std::span(sizes_).first(stacks));
        for (size_t half = 0; half < 2; ++half) {
            std::vector<std::uint32_t> words;
            for (const Key& key : random_.layers) words.push_back(half == 0 ? key.k0 : key.k1);
            const HloValue table = ops_.constant(fmt::format("[{}]", fmt::join(words, ", ")), DType::u32,
                                                 {static_cast<i64>(words.size())});
            key_[half] = hlo_take(table, number, {}, ops_);
        }
        sizes_.erase(sizes_.begin(), sizes_.begin() + static_cast<std::ptrdiff_t>(stacks));
        index_.erase(index_.begin(), index_.begin() + static_cast<std::ptrdiff_t>(stacks));
    }

    void fold_in_blocks() {
        HloValues blocks;
        for (size_t d = 0; d < sizes_.size(); ++d) {
            sizes_[d] /= random_.blocks[d];
            const HloValue size = word(static_cast<std::uint32_t>(sizes_[d]), block_, ops_);
            blocks.push_back(ops_.pointwise("stablehlo.divide", {index_[d], size}));
            index_[d] = ops_.pointwise("stablehlo.remainder", {index_[d], size});
        }
        key_ = hlo_fold_in(key_, number_of(blocks, random_.blocks), ops_);
    }

    HloValue bits(const HloKey& key) {
        HloValue drawn;
        const HloValue zero = word(0, block_, ops_);
        if (random_.layout == BitLayout::partitionable) {
            const HloKey made = hlo_threefry(key, {zero, place_}, ops_);
            drawn = exclusive_or({made[0], made[1]}, ops_);
        } else { // the places in two halves, which feed the two words of a block
            const HloValue half = word(static_cast<std::uint32_t>((total_ + 1) / 2), block_, ops_);
            const HloValue in_first = ops_.less({place_, half});
            const HloValue behind = ops_.pointwise("stablehlo.subtract", {place_, half});
            const HloValue low = ops_.pointwise("stablehlo.select", {in_first, place_, behind});
            const HloValue above = add({low, half}, ops_);
            const HloValue is_there = ops_.less({above, word(static_cast<std::uint32_t>(total_), block_, ops_)});
            const HloValue high = ops_.pointwise("stablehlo.select", {is_there, above, zero});
            const HloKey made = hlo_threefry(key, {low, high}, ops_);
            drawn = ops_.pointwise("stablehlo.select", {in_first, made[0], made[1]});
        }
        if (random_.multiplier == 1) return drawn;
        return ops_.pointwise("stablehlo.multiply", {drawn, word(random_.multiplier, block_, ops_)});
    }

    const Random& random_;
    Shape sizes_; // of the array that a place is in
    const Shape& block_;
    HloOps& ops_;
    HloKey key_;
    HloValues index_; // along each of its dims
    HloValue place_;
    i64 total_ = 1;
    std::optional<HloValue> drawn_; // the bits, where the key is one of rbg
};

} // namespace

HloKey hlo_threefry(const HloKey& key, const HloKey& block, HloOps& ops) {
    const Shape& shape = block[0].shape;
    const std::string name = shape.empty() ? "threefry" : fmt::format("threefry_{}", fmt::join(shape, "x"));
    const HloValues arguments = {
        {"%k0", DType::u32, shape}, {"%k1", DType::u32, shape}, {"%x0", DType::u32, shape}, {"%x1", DType::u32, shape}};
    ops.functions().define(name, arguments, [&arguments](HloOps& inside) -> HloValues {
        const HloKey made = threefry_rounds({arguments[0], arguments[1]}, {arguments[2], arguments[3]}, inside);
        return {made[0], made[1]};
    });
    const HloValues made = ops.call(name, {key[0], key[1], block[0], block[1]}, {block[0], block[1]});
    return {made[0], made[1]};
}

HloKey hlo_fold_in(const HloKey& key, const HloValue& data, HloOps& ops) {
    return hlo_threefry(key, {word(0, data.shape, ops), data}, ops);
}

HloValue hlo_random(const Random& random, const Generate& kernel, const HloValue& output, HloBody& body) {
    HloOps& ops = body.ops();
    const Distribution& distribution = random.distribution;
    if (distribution.kind == DistributionKind::constant)
        return ops.constant(distribution.value, output.dtype, output.shape);
    Draw draw(random, kernel, output.shape, body);
    const HloValues words = draw.words(distribution.kind == DistributionKind::randint ? 2 : 1);
    return ops.convert(hlo_sample(distribution, words, ops), output.dtype);
}

} // namespace shard
