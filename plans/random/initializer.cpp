#include "plans/random/initializer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace shard {
namespace {

// The family members differ in these three only.
struct VarianceScaling {
    double scale;
    std::string_view mode;
    std::string_view distribution;
};

struct Row {
    InitializerInfo info;
    std::optional<VarianceScaling> family;
};

constexpr double default_stddev = 1e-2;
constexpr float deviation_of_truncated_normal = 0.87962566103423978f;

constexpr std::array<Row, 17> rows = {{
    {{"zeros", "", "every element is 0"}, {}},
    {{"ones", "", "every element is 1"}, {}},
    {{"constant", "value", "every element is `value`"}, {}},
    {{"uniform", "scale=0.01", "uniform in [0, scale)"}, {}},
    {{"normal", "stddev=0.01", "normal with mean 0"}, {}},
    {{"truncated_normal", "stddev=0.01 lower=-2 upper=2", "normal cut to (lower, upper), then times stddev"}, {}},
    {{"variance_scaling", "scale mode distribution", "variance scale / n, n by the fans of the shape"}, {}},
    {{"lecun_normal", "", "truncated normal, variance 1 / fan_in"}, {{1, "fan_in", "truncated_normal"}}},
    {{"lecun_uniform", "", "uniform, variance 1 / fan_in"}, {{1, "fan_in", "uniform"}}},
    {{"he_normal", "", "truncated normal, variance 2 / fan_in"}, {{2, "fan_in", "truncated_normal"}}},
    {{"he_uniform", "", "uniform, variance 2 / fan_in"}, {{2, "fan_in", "uniform"}}},
    {{"kaiming_normal", "", "he_normal"}, {{2, "fan_in", "truncated_normal"}}},
    {{"kaiming_uniform", "", "he_uniform"}, {{2, "fan_in", "uniform"}}},
    {{"glorot_normal", "", "truncated normal, variance 1 / fan_avg"}, {{1, "fan_avg", "truncated_normal"}}},
    {{"glorot_uniform", "", "uniform, variance 1 / fan_avg"}, {{1, "fan_avg", "uniform"}}},
    {{"xavier_normal", "", "glorot_normal"}, {{1, "fan_avg", "truncated_normal"}}},
    {{"xavier_uniform", "", "glorot_uniform"}, {{1, "fan_avg", "uniform"}}},
}};

constexpr std::array<InitializerInfo, rows.size()> infos = [] {
    std::array<InitializerInfo, rows.size()> table{};
    for (std::size_t i = 0; i < rows.size(); ++i) table[i] = rows[i].info;
    return table;
}();

bool has_argument(const InitializerInfo& info, std::string_view argument) {
    for (std::string_view rest = info.arguments; !rest.empty();) {
        const std::string_view word = rest.substr(0, rest.find(' '));
        if (word.substr(0, word.find('=')) == argument) return true;
        rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    }
    return false;
}

bool check_arguments(const InitializerInfo& info, const InitializerSpec& spec, InitializerProblem& problem) {
    const std::array<std::pair<std::string_view, bool>, 7> given = {{
        {"value", spec.value.has_value()},
        {"stddev", spec.stddev.has_value()},
        {"scale", spec.scale.has_value()},
        {"lower", spec.lower.has_value()},
        {"upper", spec.upper.has_value()},
        {"mode", spec.mode.has_value()},
        {"distribution", spec.distribution.has_value()},
    }};
    const std::string help = info.arguments.empty() ? fmt::format("{} takes no arguments", info.name)
                                                    : fmt::format("{} takes {}", info.name, info.arguments);
    for (const auto& [argument, is_given] : given) {
        if (!is_given || has_argument(info, argument)) continue;
        problem = {fmt::format("initializer {} has no argument {}", info.name, argument), help};
        return false;
    }
    const bool lacks_value = info.name == "constant" && !spec.value;
    const bool lacks_scaling = info.name == "variance_scaling" && !(spec.scale && spec.mode && spec.distribution);
    if (!lacks_value && !lacks_scaling) return true;
    problem = {fmt::format("initializer {} lacks an argument", info.name), help};
    return false;
}

// The product of some dims of a shape; nullopt if one does not exist.
std::optional<double> product_of(std::span<const i64> shape, const std::vector<i64>& dims) {
    const i64 rank = static_cast<i64>(shape.size());
    double product = 1;
    for (i64 dim : dims) {
        if (dim < -rank || dim >= rank) return std::nullopt;
        product *= static_cast<double>(shape[static_cast<std::size_t>(dim < 0 ? dim + rank : dim)]);
    }
    return product;
}

struct Fans {
    double in;
    double out;
};

std::optional<Fans> fans_of(std::span<const i64> shape, const FanAxes& axes) {
    const std::optional<double> in = product_of(shape, axes.in);
    const std::optional<double> out = product_of(shape, axes.out);
    const std::optional<double> batch = product_of(shape, axes.batch);
    if (!in || !out || !batch) return std::nullopt;
    double all = 1;
    for (i64 size : shape) all *= static_cast<double>(size);
    const double receptive_field = all / *in / *out / *batch;
    return Fans{*in * receptive_field, *out * receptive_field};
}

std::optional<double> denominator(std::string_view mode, const Fans& fans) {
    if (mode == "fan_in") return fans.in;
    if (mode == "fan_out") return fans.out;
    if (mode == "fan_avg") return (fans.in + fans.out) / 2;
    if (mode == "fan_geo_avg") return std::sqrt(fans.in * fans.out);
    return std::nullopt;
}

std::optional<Distribution> variance_scaling(const VarianceScaling& family, std::span<const i64> shape,
                                             const FanAxes& axes, InitializerProblem& problem) {
    const std::optional<Fans> fans = fans_of(shape, axes);
    if (!fans) {
        problem = {fmt::format("no fan in and fan out for a shape of rank {}", shape.size()),
                   "variance scaling needs at least two dims, unless the fan dims are named"};
        return std::nullopt;
    }
    const std::optional<double> n = denominator(family.mode, *fans);
    if (!n) {
        problem = {fmt::format("unknown variance_scaling mode {}", family.mode),
                   "modes are fan_in, fan_out, fan_avg, fan_geo_avg"};
        return std::nullopt;
    }
    // In JAX the variance becomes float32 here, and everything after it is float32 arithmetic.
    const float variance = static_cast<float>(family.scale / *n);
    if (family.distribution == "truncated_normal") {
        const float deviation = std::sqrt(variance) / deviation_of_truncated_normal;
        return Distribution{.kind = DistributionKind::truncated_normal, .low = -2, .high = 2, .scale = deviation};
    }
    if (family.distribution == "normal")
        return Distribution{.kind = DistributionKind::normal, .scale = std::sqrt(variance)};
    if (family.distribution == "uniform") {
        const float bound = std::sqrt(3.0f * variance); // the variance of uniform(-1, 1) is 1/3
        return Distribution{.kind = DistributionKind::uniform, .low = -1, .high = 1, .scale = bound};
    }
    problem = {fmt::format("unknown variance_scaling distribution {}", family.distribution),
               "distributions are truncated_normal, normal, uniform"};
    return std::nullopt;
}

} // namespace

std::span<const InitializerInfo> initializers() { return infos; }

std::optional<Distribution> initializer_distribution(const InitializerSpec& spec, std::span<const i64> shape,
                                                     InitializerProblem& problem) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.info.name == spec.name; });
    if (row == rows.end()) {
        problem = {fmt::format("unknown initializer {}", spec.name), ""};
        return std::nullopt;
    }
    if (!check_arguments(row->info, spec, problem)) return std::nullopt;
    if (row->family) return variance_scaling(*row->family, shape, spec.fan, problem);
    if (spec.name == "variance_scaling")
        return variance_scaling({*spec.scale, *spec.mode, *spec.distribution}, shape, spec.fan, problem);

    if (spec.name == "zeros") return Distribution{};
    if (spec.name == "ones") return Distribution{.value = 1};
    if (spec.name == "constant") return Distribution{.value = *spec.value};
    const double stddev = spec.stddev.value_or(default_stddev);
    if (spec.name == "uniform")
        return Distribution{.kind = DistributionKind::uniform, .high = 1, .scale = spec.scale.value_or(1e-2)};
    if (spec.name == "normal") return Distribution{.kind = DistributionKind::normal, .scale = stddev};
    const double lower = spec.lower.value_or(-2);
    const double upper = spec.upper.value_or(2);
    if (!(lower < upper)) {
        problem = {fmt::format("truncated_normal has lower {} and upper {}", lower, upper),
                   "lower must be less than upper"};
        return std::nullopt;
    }
    return Distribution{.kind = DistributionKind::truncated_normal, .low = lower, .high = upper, .scale = stddev};
}

} // namespace shard
