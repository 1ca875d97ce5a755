#include "executor/kernels/sort.h"

#include "executor/elements/element.h"
#include "plans/kernel/kernel_scratch.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>

namespace shard {

namespace {

// Unsigned numbers in the order of the elements: NaN is the largest, 0 and -0 are one.
template<typename T>
auto ordered_bits(T value) {
    if constexpr (std::is_floating_point_v<T>) {
        using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
        constexpr Bits sign = Bits{1} << (8 * sizeof(T) - 1);
        if (std::isnan(value)) return static_cast<Bits>(~Bits{0});
        const Bits bits = std::bit_cast<Bits>(value == 0 ? T{0} : value);
        return static_cast<Bits>(bits & sign ? ~bits : bits | sign);
    } else if constexpr (std::is_signed_v<T>) {
        using Bits = std::make_unsigned_t<T>;
        return static_cast<Bits>(static_cast<Bits>(value) ^ static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1)));
    } else {
        return value;
    }
}

// The keys of one row as words, `stride` elements apart; complemented if the largest comes first.
void read_words(const Operand& key, i64 first, i64 stride, bool descending, std::span<std::uint64_t> words) {
    visit_dtype(key.dtype, [&](auto zero) {
        using T = decltype(zero);
        const T* data = reinterpret_cast<const T*>(key.data) + first;
        for (size_t i = 0; i < words.size(); ++i) {
            const auto bits = ordered_bits(convert_value<Computed<T>>(data[static_cast<i64>(i) * stride]));
            words[i] = descending ? static_cast<decltype(bits)>(~bits) : bits;
        }
    });
}

// The least `count` in order; where the others are does not matter.
template<typename Before>
void order_first(std::span<std::uint64_t> words, i64 count, const Before& before) {
    if (count == static_cast<i64>(words.size()))
        std::sort(words.begin(), words.end(), before);
    else
        std::partial_sort(words.begin(), words.begin() + count, words.end(), before);
}

// Of one key of at most 32 bits: a word holds the key above the position, so that equal keys stay in order.
void sort_packed(std::span<std::uint64_t> words, i64 count) {
    for (size_t i = 0; i < words.size(); ++i) words[i] = words[i] << 32 | i;
    order_first(words, count, std::less());
    for (i64 i = 0; i < count; ++i) words[i] &= 0xFFFFFFFF;
}

void sort_positions(std::span<const std::uint64_t> words, std::span<std::uint64_t> positions, i64 count) {
    const size_t length = positions.size();
    std::iota(positions.begin(), positions.end(), std::uint64_t{0});
    order_first(positions, count, [&](std::uint64_t a, std::uint64_t b) {
        for (size_t key = 0; key < words.size(); key += length)
            if (words[key + a] != words[key + b]) return words[key + a] < words[key + b];
        return a < b;
    });
}

} // namespace

void run_sort(const Sort& kernel, const KernelCall& call) {
    internal_check(!call.inputs.empty() && call.output.dtype == DType::i32, "sort: keys, and positions as i32");
    const Shape& shape = *call.inputs[0].shape;
    std::vector<TensorType> types;
    for (const Operand& key : call.inputs) types.push_back(key.type());
    const size_t length = static_cast<size_t>(shape[kernel.dim]), keys = call.inputs.size();
    const i64 count = (*call.output.shape)[kernel.dim];
    i64 outer = 1, inner = 1;
    for (int d = 0; d < static_cast<int>(shape.size()); ++d)
        if (d != kernel.dim) (d < kernel.dim ? outer : inner) *= shape[d];

    const SortScratch needed = sort_scratch(types, kernel);
    const std::span<std::uint64_t> scratch(reinterpret_cast<std::uint64_t*>(call.scratch.at(0, needed.bytes)),
                                           static_cast<size_t>(needed.bytes) / sizeof(std::uint64_t));
    const std::span<std::uint64_t> words = scratch.first(keys * length), positions = scratch.last(length);
    std::int32_t* out = reinterpret_cast<std::int32_t*>(call.output.data);
    for (i64 a = 0; a < outer; ++a)
        for (i64 b = 0; b < inner; ++b) {
            for (size_t key = 0; key < keys; ++key)
                read_words(call.inputs[key], a * static_cast<i64>(length) * inner + b, inner, kernel.descending,
                           words.subspan(key * length, length));
            if (needed.packed)
                sort_packed(words, count); // the positions are the words
            else
                sort_positions(words, positions, count);
            for (i64 r = 0; r < count; ++r)
                out[(a * count + r) * inner + b] = static_cast<std::int32_t>(positions[static_cast<size_t>(r)]);
        }
}

} // namespace shard
