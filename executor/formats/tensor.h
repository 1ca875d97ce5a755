// Whole tensors in host memory.
#pragma once

#include "plans/sharding/type.h"

#include <cstddef>
#include <vector>

namespace shard {

// A whole (global) tensor in host memory, row-major.
struct Tensor {
    TensorType type;
    std::vector<std::byte> bytes;
};

} // namespace shard
