#include "tests/support/bits_interpreter.h"

#include "plans/base/base.h"

#include <cstdint>
#include <cstring>

namespace shard {

namespace {

template<typename To, typename From>
To copied(From value) {
    static_assert(sizeof(To) == sizeof(From));
    To made;
    std::memcpy(&made, &value, sizeof made);
    return made;
}

std::uint64_t bits_of(double value, DType type) {
    switch (type) {
    case DType::f64:
        return copied<std::uint64_t>(value);
    case DType::f32:
        return copied<std::uint32_t>(static_cast<float>(value));
    case DType::bf16:
        return copied<std::uint32_t>(static_cast<float>(value)) >> 16;
    default:
        internal_check(is_integer(type), "the interpreter does not know the bits of this type");
        return is_signed(type) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value))
                               : static_cast<std::uint64_t>(value);
    }
}

double number_of(std::uint64_t bits, DType type) {
    const auto shift = static_cast<int>(64 - 8 * byte_size(type));
    switch (type) {
    case DType::f64:
        return copied<double>(bits);
    case DType::f32:
        return copied<float>(static_cast<std::uint32_t>(bits));
    case DType::bf16:
        return copied<float>(static_cast<std::uint32_t>(bits) << 16);
    default:
        internal_check(is_integer(type), "the interpreter does not know the bits of this type");
        return is_signed(type) ? static_cast<double>(static_cast<std::int64_t>(bits << shift) >> shift)
                               : static_cast<double>(bits << shift >> shift);
    }
}

} // namespace

Array take_bits(const Array& array, DType from, DType to) {
    Array made{array.shape, {}};
    for (const double value : array.values) made.values.push_back(number_of(bits_of(value, from), to));
    return made;
}

} // namespace shard
