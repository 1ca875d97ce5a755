#include "tests/support/jax_values.h"

#include "tests/support/gradient_check.h"
#include "tests/support/model_harness.h"

#include <cmath>
#include <fmt/format.h>

namespace shard {

namespace {

const std::map<std::string, Array>& operands() {
    static const std::map<std::string, Array> all = {
        {"x", {{2, 5}, {2, -1, 0, 2, -3, 0.5, 0.5, -2, 1.5, 0.25}}},
        {"z", {{2, 5}, {1, 0.5, -1, 0.25, 2, 0, 3, 1, -0.5, 1}}},
        {"u", {{2, 3}, {1, 5, 5, 2, 2, -3}}},
        {"i", {{2, 3}, {4, 0, 0, 1, 1, 3}}},
        {"n", {{1, 6}, {NAN, 1, -INFINITY, NAN, 0, -0.0}}},
    };
    return all;
}

void compare(const std::string& what, const std::vector<double>& got, const std::vector<double>& want,
             std::vector<std::string>& problems) {
    if (got.size() != want.size()) problems.push_back(fmt::format("{} has {} elements", what, got.size()));
    for (size_t n = 0; n < std::min(got.size(), want.size()); ++n)
        if (got[n] != want[n] && !(std::fabs(got[n] - want[n]) <= 1e-8 * (1 + std::fabs(want[n]))))
            problems.push_back(fmt::format("{}[{}] is {}, not {}", what, n, got[n], want[n]));
}

} // namespace

std::vector<std::string> jax_problems(const JaxCase& one, int results) {
    std::string names = "y";
    for (int n = 1; n < results; ++n) names = fmt::format("y{}, ", n) + names;
    Built built = build_text(fmt::format(R"(model: m
inputs:
  x: {{shape: [2, 5], dtype: f64}}
  z: {{shape: [2, 5], dtype: f64}}
  u: {{shape: [2, 3], dtype: f64}}
  i: {{shape: [2, 3], dtype: i32}}
  n: {{shape: [1, 6], dtype: f64}}
graph:
  - {}: {{{}}}
outputs: [y]
)",
                                         names, one.op));
    if (!built.graph) return {built.problems()};
    std::vector<std::string> problems;
    compare("the result", interpret(*built.graph, operands()).at("y").values, one.values, problems);
    if (one.gradient.empty()) return problems;
    add_gradients(*built.graph);
    compare("the gradient", interpret(*built.graph, operands()).at("grad.x").values, one.gradient, problems);
    return problems;
}

} // namespace shard
