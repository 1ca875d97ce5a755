#include "executor/elements/stored_type.h"

#include "executor/elements/strided.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace shard {

namespace {

using Kind = StoredType::Kind;

struct Names {
    StoredType type;
    std::string_view name;
    std::string_view numpy; // without the byte order; empty: numpy has no such type
    std::string_view safetensors;
};
constexpr Names names[] = {
    {{Kind::floating, 4}, "f32", "f4", "F32"},
    {{Kind::floating, 8}, "f64", "f8", "F64"},
    {{Kind::brain, 2}, "bf16", "", "BF16"},
    {{Kind::signed_integer, 4}, "i32", "i4", "I32"},
    {{Kind::signed_integer, 8}, "i64", "i8", "I64"},
    {{Kind::unsigned_integer, 4}, "u32", "u4", "U32"},
    {{Kind::boolean, 1}, "bool", "b1", "BOOL"},
    {{Kind::floating, 2}, "f16", "f2", "F16"},
    {{Kind::signed_integer, 1}, "i8", "i1", "I8"},
    {{Kind::unsigned_integer, 1}, "u8", "u1", "U8"},
    {{Kind::signed_integer, 2}, "i16", "i2", "I16"},
    {{Kind::unsigned_integer, 2}, "u16", "u2", "U16"},
    {{Kind::unsigned_integer, 8}, "u64", "u8", "U64"},
};

const Names& names_of(const StoredType& type) {
    for (const Names& entry : names)
        if (entry.type.kind == type.kind && entry.type.bytes == type.bytes) return entry;
    internal_error("a stored type without a name");
}

// Whether `to` holds every value of `from`, both being numbers of the same kind.
bool widens(const StoredType& from, const StoredType& to) {
    switch (from.kind) {
    case Kind::boolean:
        return to.kind == Kind::boolean;
    case Kind::brain:
        return to.kind == Kind::brain || (to.kind == Kind::floating && to.bytes > 2);
    case Kind::floating:
    case Kind::signed_integer:
        return to.kind == from.kind && to.bytes >= from.bytes;
    case Kind::unsigned_integer:
        return (to.kind == from.kind && to.bytes >= from.bytes) ||
               (to.kind == Kind::signed_integer && to.bytes > from.bytes);
    }
    internal_error("a kind of stored type that cannot be widened");
}

template<typename Word>
Word load(const std::byte* from, bool is_big_endian) {
    unsigned char bytes[sizeof(Word)];
    std::memcpy(bytes, from, sizeof bytes);
    if (is_big_endian) std::reverse(std::begin(bytes), std::end(bytes));
    return std::bit_cast<Word>(bytes);
}

// Words of `from`, as f makes elements of them.
template<typename Word, typename Make>
void each(std::byte* to, const std::byte* from, bool is_big_endian, i64 count, Make make) {
    for (i64 i = 0; i < count; ++i) {
        const auto element = make(load<Word>(from + i * static_cast<i64>(sizeof(Word)), is_big_endian));
        std::memcpy(to + i * static_cast<i64>(sizeof element), &element, sizeof element);
    }
}

} // namespace

float half_to_float(std::uint16_t bits) {
    const std::uint32_t sign = (bits & 0x8000u) << 16, exponent = (bits >> 10) & 0x1Fu, fraction = bits & 0x3FFu;
    if (exponent == 0) { // zero and subnormals: fraction * 2^-24, which is a normal float
        const float value = static_cast<float>(fraction) * 0x1p-24f;
        return sign != 0 ? -value : value;
    }
    const std::uint32_t wide = exponent == 0x1F ? 0xFFu : exponent + 127 - 15;
    return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

StoredType stored_type(DType dtype) {
    for (const Names& entry : names)
        if (entry.name == name(dtype)) return entry.type;
    internal_error("an element type that no file holds");
}

std::string name(const StoredType& type) {
    return (type.is_big_endian ? "big-endian " : "") + std::string(names_of(type).name);
}

std::optional<StoredType> parse_numpy_type(std::string_view descr) {
    if (descr.empty()) return std::nullopt;
    const char order = descr.front();
    for (const Names& entry : names) {
        if (entry.numpy.empty() || entry.numpy != descr.substr(1)) continue;
        StoredType type = entry.type;
        type.is_big_endian = order == '>' && type.bytes > 1;
        const bool fits = order == '<' || order == '>' || (order == '|' && type.bytes == 1);
        return fits ? std::optional(type) : std::nullopt;
    }
    return std::nullopt;
}

std::optional<StoredType> parse_safetensors_type(std::string_view text) {
    for (const Names& entry : names)
        if (entry.safetensors == text) return entry.type;
    return std::nullopt;
}

std::string numpy_name(DType dtype) {
    const Names& entry = names_of(stored_type(dtype));
    internal_check(!entry.numpy.empty(), "numpy has no bf16");
    return (entry.type.bytes == 1 ? "|" : "<") + std::string(entry.numpy);
}

std::string_view safetensors_name(DType dtype) { return names_of(stored_type(dtype)).safetensors; }

Fit fit_of(const StoredType& from, DType dtype) {
    const StoredType to = stored_type(dtype);
    if (from == to) return Fit::same;
    if (widens(from, to)) return Fit::converted;
    return to.kind == Kind::brain && from.kind == Kind::floating && from.bytes <= 4 ? Fit::rounded : Fit::refused;
}

DType natural_type(const StoredType& type) {
    for (const DType dtype : {DType::boolean, DType::bf16, DType::f32, DType::f64, DType::i32, DType::u32, DType::i64})
        if (widens(type, stored_type(dtype))) return dtype;
    return DType::i64; // u64, which nothing holds: fit_of refuses it
}

void to_natural(std::byte* to, const std::byte* from, const StoredType& type, i64 count) {
    const bool swap = type.is_big_endian;
    const auto same = [](auto word) { return word; };
    const auto whole = [](auto word) { return static_cast<std::int32_t>(word); };
    if (type.bytes == 8) return each<std::uint64_t>(to, from, swap, count, same);
    if (type.bytes == 4) return each<std::uint32_t>(to, from, swap, count, same);
    if (type.kind == Kind::boolean)
        return each<std::uint8_t>(to, from, swap, count, [](std::uint8_t byte) { return std::uint8_t{byte != 0}; });
    if (type.kind == Kind::brain) return each<std::uint16_t>(to, from, swap, count, same);
    if (type.kind == Kind::floating) return each<std::uint16_t>(to, from, swap, count, half_to_float);
    const bool is_signed = type.kind == Kind::signed_integer;
    if (type.bytes == 2)
        return is_signed ? each<std::int16_t>(to, from, swap, count, whole)
                         : each<std::uint16_t>(to, from, swap, count, whole);
    return is_signed ? each<std::int8_t>(to, from, swap, count, whole)
                     : each<std::uint8_t>(to, from, swap, count, whole);
}

void convert_stored(std::byte* to, DType to_type, const std::byte* from, const StoredType& type, i64 count) {
    const DType natural = natural_type(type);
    if (natural == to_type) return to_natural(to, from, type, count);
    constexpr i64 block = 1024;
    alignas(8) std::byte elements[block * 8];
    for (i64 at = 0; at < count; at += block) {
        const i64 n = std::min(block, count - at);
        to_natural(elements, from + at * type.bytes, type, n);
        convert_strided(to + at * byte_size(to_type), to_type, elements, natural, {{n, 1, 1}});
    }
}

} // namespace shard
