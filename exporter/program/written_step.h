// A kernel that engines do not have, or not in all its forms, as kernels that they have.
#pragma once

#include "plans/kernel/kernel.h"

namespace shard {

struct WrittenStep {
    Kernel kernel;
    std::vector<int> inputs; // of those of the kernel, which are followed by the results of the steps before
    TensorType type;
    std::string name; // of what it makes
};

} // namespace shard
