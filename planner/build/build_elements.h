// Numbers and flags that become elements of a value: they fit the value's type, or are refused where they are written.
#pragma once

#include "planner/text/yaml.h"

namespace shard {

// A number of that type, if the type is known; nullopt after E0226 or what is said of a number that is none.
std::optional<double> read_element_of(std::optional<DType> dtype, const Yaml& yaml, std::string_view what,
                                      Diagnostics& diagnostics);

struct Elements {
    std::vector<double> numbers; // 1 and 0 for true and false
    bool flags = false;          // all of them were flags
    std::vector<i64> shape;      // of the lists: [[1, 2, 3], [4, 5, 6]] has (2, 3); one number has none
};

// One, a list of them, or their bytes ("0x0000803f"; plans/dtype/element_bits.h), of f32 unless a type is asked for.
// A list may be of lists of one length, row-major. Flags among numbers are refused unless a type is asked for.
std::optional<Elements> read_elements_of(std::optional<DType> dtype, const Yaml& yaml, std::string_view what,
                                         Diagnostics& diagnostics);

} // namespace shard
