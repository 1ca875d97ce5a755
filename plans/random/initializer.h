// Initializers by the names that jax.nn.initializers gives them: (name, arguments, shape) -> Distribution.
//
//     InitializerSpec spec{.name = "lecun_normal"};
//     initializer_distribution(spec, shape_1024_by_1024, problem);   // truncated_normal(-2, 2) * 0.035526477
//
// The variance-scaling family (lecun_*, he_*, glorot_*, variance_scaling) draws with variance scale / n, where n is the
// fan in, the fan out or their average. The fans of a shape are the product of its `in` (default: second to last) or
// `out` (default: last) dims, times the receptive field: every other dim that is not a batch dim. The truncated form
// divides the deviation by 0.8796..., the deviation of a standard normal cut to (-2, 2), to make up for the cut.
#pragma once

#include "plans/random/distribution.h"

#include <span>
#include <vector>

namespace shard {

// Negative dims count from the end.
struct FanAxes {
    std::vector<i64> in = {-2};
    std::vector<i64> out = {-1};
    std::vector<i64> batch = {};
};

// An initializer as the user wrote it. An argument left out has the default of the table below.
struct InitializerSpec {
    std::string name;
    std::optional<double> value = {};             // constant
    std::optional<double> stddev = {};            // normal, truncated_normal
    std::optional<double> scale = {};             // uniform, variance_scaling
    std::optional<double> lower = {};             // truncated_normal
    std::optional<double> upper = {};             // truncated_normal
    std::optional<std::string> mode = {};         // variance_scaling: fan_in, fan_out, fan_avg, fan_geo_avg
    std::optional<std::string> distribution = {}; // variance_scaling: truncated_normal, normal, uniform
    FanAxes fan = {};
};

// What is wrong with a spec, without its place in the file: the reader that knows the place reports it.
struct InitializerProblem {
    std::string message;
    std::string help;
};

// One row per name. Arguments are separated by blanks, each "name" (required) or "name=default".
struct InitializerInfo {
    std::string_view name;
    std::string_view arguments;
    std::string_view doc;
};
[[nodiscard]] std::span<const InitializerInfo> initializers();

// nullopt and a problem for an unknown name, an argument the initializer does not have, or a shape without fans.
[[nodiscard]] std::optional<Distribution>
initializer_distribution(const InitializerSpec& spec, std::span<const i64> shape, InitializerProblem& problem);

} // namespace shard
