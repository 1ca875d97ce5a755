// Element types as files have them. One rule for .npy and safetensors: a file's values are taken where the type wanted
// holds all of them and is of the same kind (f16 as f32, u8 as i32, the other byte order), and then it is said; floats
// are rounded to bf16; anything else is refused, since only the user knows which loss is fine.
#pragma once

#include "plans/dtype/dtype.h"

#include <cstddef>
#include <string>

namespace shard {

struct StoredType {
    DType dtype = DType::f32;
    bool is_big_endian = false;
    bool operator==(const StoredType&) const = default;
};

std::string name(const StoredType& type);                                // "f16", "u8", "big-endian f32"
std::optional<StoredType> parse_numpy_type(std::string_view descr);      // "<f2", ">i4", "|u1"
std::optional<StoredType> parse_safetensors_type(std::string_view name); // "F16", "U8"
bool has_numpy_name(DType dtype);                                        // of the narrow floats only f16
std::string numpy_name(DType dtype);                                     // "<f4"
std::string safetensors_name(DType dtype);                               // "F32"

// By the rule above.
enum class Fit { same, converted, rounded, refused };
Fit fit_of(const StoredType& from, DType to);

// Whether a file's bytes are elements as they are. Those of booleans may be more than 0 and 1.
inline bool is_plain(const StoredType& type) { return !type.is_big_endian && type.dtype != DType::boolean; }

// `count` elements, one behind the other, in the byte order of this machine.
void to_natural(std::byte* to, const std::byte* from, const StoredType& type, i64 count);
// The same in any type that they fit.
void convert_stored(std::byte* to, DType to_type, const std::byte* from, const StoredType& type, i64 count);

} // namespace shard
