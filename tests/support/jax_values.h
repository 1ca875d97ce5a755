// What JAX 0.10.2 printed for an op on the operands below, and for the gradient of x of the sum of its elements, each
// times cos(1 + 0.7 i + 1.7 j): add_gradients (tests/support/gradient_check.h) takes the same.
//
//     x = [[2, -1, 0, 2, -3], [0.5, 0.5, -2, 1.5, 0.25]]    z = [[1, 0.5, -1, 0.25, 2], [0, 3, 1, -0.5, 1]]
//     u = [[1, 5, 5], [2, 2, -3]]    i = [[4, 0, 0], [1, 1, 3]]    n = [[nan, 1, -inf, nan, 0, -0]]
#pragma once

#include "plans/base/base.h"

#include <string>
#include <vector>

namespace shard {

struct JaxCase {
    std::string op;
    std::vector<double> values;   // of the last result
    std::vector<double> gradient; // of x; empty: not compared
};

// Where the independent interpreter differs, one line each; what a plan computes is compared with the interpreter.
std::vector<std::string> jax_problems(const JaxCase& one, int results = 1);

} // namespace shard
