// Elements by their bytes, as StableHLO writes dense<"0x0000803F00000040">: two hexadecimal digits a byte, the lowest
// byte first. Every value of the type can be written, and is read as it was.
#pragma once

#include "plans/dtype/dtype.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shard {

// Of a floating-point type the real one, of others the integer.
struct ElementNumber {
    double real = 0;
    i64 integer = 0;
};

// nullopt: a whole number that i64 does not hold.
std::optional<ElementNumber> number_of_bits(std::uint64_t bits, DType dtype);

// One element or more; nullopt if these are not whole elements of the type.
std::optional<std::vector<ElementNumber>> read_element_bytes(std::string_view text, DType dtype);
// Numbers of the type, each in the one value it has there.
std::string element_bytes(std::span<const ElementNumber> numbers, DType dtype);

} // namespace shard
