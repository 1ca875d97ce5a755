#include "executor/elements/stored_type.h"

#include "executor/elements/strided.h"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace shard {

namespace {

using Kind = DTypeInfo::Kind;

// Whether `to` holds every value of `from`, both being numbers of the same kind.
bool widens(DType from, DType to) {
    const DTypeInfo &a = info(from), &b = info(to);
    if (a.kind == Kind::boolean || b.kind == Kind::boolean) return from == to;
    if (is_floating(from) || is_floating(to))
        return is_floating(from) && is_floating(to) && a.significand <= b.significand && a.largest <= b.largest;
    return a.lowest >= b.lowest && a.highest <= b.highest;
}

} // namespace

std::string name(const StoredType& type) {
    return (type.is_big_endian ? "big-endian " : "") + std::string(name(type.dtype));
}

// numpy calls a type after its kind and bytes; of the narrow floats it has f16.
bool has_numpy_name(DType dtype) { return !is_floating(dtype) || byte_size(dtype) > 2 || dtype == DType::f16; }

std::string numpy_name(DType dtype) {
    internal_check(has_numpy_name(dtype), "numpy has no such type");
    constexpr std::string_view letters = "biuf"; // in the order of the kinds
    const i64 bytes = byte_size(dtype);
    return (bytes == 1 ? "|" : "<") + std::string(1, letters[static_cast<size_t>(info(dtype).kind)]) +
           std::to_string(bytes);
}

std::optional<StoredType> parse_numpy_type(std::string_view descr) {
    for (const DType dtype : all_dtypes()) {
        if (descr.empty() || !has_numpy_name(dtype) || numpy_name(dtype).substr(1) != descr.substr(1)) continue;
        const char order = descr.front();
        const bool fits = order == '<' || order == '>' || (order == '|' && byte_size(dtype) == 1);
        return fits ? std::optional(StoredType{dtype, order == '>' && byte_size(dtype) > 1}) : std::nullopt;
    }
    return std::nullopt;
}

// Two types have a name in safetensors that is not theirs in capitals.
std::string safetensors_name(DType dtype) {
    if (dtype == DType::f8e4m3fn) return "F8_E4M3";
    if (dtype == DType::f8e5m2) return "F8_E5M2";
    std::string text(name(dtype));
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

std::optional<StoredType> parse_safetensors_type(std::string_view text) {
    for (const DType dtype : all_dtypes())
        if (safetensors_name(dtype) == text) return StoredType{dtype};
    return std::nullopt;
}

Fit fit_of(const StoredType& from, DType to) {
    if (from.dtype == to) return from.is_big_endian ? Fit::converted : Fit::same;
    if (widens(from.dtype, to)) return Fit::converted;
    return to == DType::bf16 && is_floating(from.dtype) && byte_size(from.dtype) <= 4 ? Fit::rounded : Fit::refused;
}

void to_natural(std::byte* to, const std::byte* from, const StoredType& type, i64 count) {
    if (count == 0) return; // there may be no place either
    const i64 size = byte_size(type.dtype);
    std::memcpy(to, from, static_cast<size_t>(count * size));
    if (type.dtype == DType::boolean)
        std::transform(to, to + count, to, [](std::byte byte) { return std::byte{byte != std::byte{0}}; });
    if (type.is_big_endian)
        for (i64 i = 0; i < count; ++i) std::reverse(to + i * size, to + (i + 1) * size);
}

void convert_stored(std::byte* to, DType to_type, const std::byte* from, const StoredType& type, i64 count) {
    if (type.dtype == to_type) return to_natural(to, from, type, count);
    constexpr i64 block = 1024;
    alignas(8) std::byte elements[block * 8];
    for (i64 at = 0; at < count; at += block) {
        const i64 n = std::min(block, count - at);
        to_natural(elements, from + at * byte_size(type.dtype), type, n);
        convert_strided(to + at * byte_size(to_type), to_type, elements, type.dtype, {{n, 1, 1}});
    }
}

} // namespace shard
