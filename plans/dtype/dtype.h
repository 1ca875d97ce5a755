// Element types, one per file of plans/dtypes/. A file says what its type is called and which C++ type its elements
// have; bytes, ranges and the type to compute in follow from that.
//
//     template<>
//     struct ElementType<DType::i32> {
//         using Element = std::int32_t;
//         static constexpr std::string_view name = "i32";
//         static constexpr std::string_view also[] = {"int32", "int", "integer"}; // in other libraries
//     };
//
// `also` begins with the name that numpy and JAX have for it.
//
// A type that C++ does not have is a class (plans/dtype/small_float.h, small_integer.h) that converts to and from
// `Wide`, a type that it has, in which it is computed. That of a floating-point type says how many bits its significand
// has, the leading one included; its file says what the largest number is.
#pragma once

#include "plans/base/base.h"

#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace shard {

// g++ 12 takes the scoped enumerator i64 for a shadow of the alias.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
enum class DType {
#define REGISTER(stem) stem,
#include "dtype_registry.inc"
#undef REGISTER
};
#pragma GCC diagnostic pop

template<DType dtype>
struct ElementType;

// Whether elements of this C++ type are computed with as another, which is rounded or wrapped to it afterwards. Numbers
// of a plan, which are doubles wherever one is asked for, are no elements.
template<typename Element>
constexpr bool is_narrow = std::is_class_v<Element> && !std::is_convertible_v<Element, double>;

struct DTypeInfo {
    std::string_view name; // "f32", ..., "bool"
    enum class Kind { boolean, signed_integer, unsigned_integer, floating } kind;
    i64 bytes;      // of one element
    DType computed; // what products and sums of it are made in: f32, i32 or u32 if it is narrow, else itself
    // What the elements of integers and booleans can be.
    i64 lowest;
    std::uint64_t highest;
    // Of floating-point types: bits, and the largest finite number.
    int significand;
    double largest;
    std::span<const std::string_view> also; // what other libraries call it
};
const DTypeInfo& info(DType dtype);
std::span<const DType> all_dtypes(); // in the order of their files

std::optional<DType> parse_dtype(std::string_view text);        // shardc's own names alone
inline i64 byte_size(DType dtype) { return info(dtype).bytes; } // of one element
inline std::string_view name(DType dtype) { return info(dtype).name; }
inline DType computed_as(DType dtype) { return info(dtype).computed; }
inline bool is_floating(DType dtype) { return info(dtype).kind == DTypeInfo::Kind::floating; }
bool is_integer(DType dtype); // bool is none
bool is_signed(DType dtype);  // a number that can be negative
double epsilon(DType dtype);  // from 1 to the next number; 0 of what is no floating-point type
double overflow(DType dtype); // the least number that is rounded to infinity, of a floating-point type

} // namespace shard
