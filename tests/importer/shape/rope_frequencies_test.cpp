#include "importer/shape/rope_frequencies.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

using namespace shard;

namespace {

std::vector<double> powers(double theta, int count, double first = 1) {
    std::vector<double> found;
    for (int k = 0; k < count; ++k) found.push_back(first * std::pow(theta, -k / static_cast<double>(count)));
    return found;
}

template<typename Kept>
std::vector<double> mixed(double theta, int count, double factor, const Kept& kept) {
    std::vector<double> found = powers(theta, count);
    for (int k = 0; k < count; ++k) {
        double& frequency = found[static_cast<size_t>(k)];
        const double part = std::clamp(kept(k, frequency), 0.0, 1.0);
        frequency = part * frequency + (1 - part) * frequency / factor;
    }
    return found;
}

std::vector<double> in_f32(std::vector<double> numbers) {
    for (double& number : numbers) number = static_cast<float>(number);
    return numbers;
}

std::string read_as(const std::vector<double>& frequencies, DType dtype = DType::f32) {
    const std::optional<RopeFrequencies> found = rope_frequencies(frequencies, dtype);
    if (!found) return "";
    return fmt::format("{}{}", found->theta.value_or(0),
                       found->scaling.empty() ? "" : fmt::format(" [{}]", fmt::join(found->scaling, ", ")));
}

} // namespace

TEST_CASE("frequencies are read as powers of the shortest theta that gives them") {
    CHECK(read_as(powers(10000, 32)) == "10000");
    CHECK(read_as(in_f32(powers(500000, 64))) == "500000");
    CHECK(read_as(powers(12345.5, 64)) == "12345.5");
    CHECK(read_as(powers(1e6, 4, 0.125)) == "1000000 [8]");
    CHECK(read_as(powers(10000, 64), DType::f64) == "10000");
    CHECK(read_as(in_f32(powers(10000, 64)), DType::f64).empty());
    CHECK(read_as({1}) == "0");
    CHECK(read_as({0.25}) == "0 [4]");
}

TEST_CASE("frequencies of which one is another are no powers") {
    std::vector<double> frequencies = powers(10000, 8);
    frequencies[5] *= 1.0001;
    CHECK(read_as(frequencies).empty());
    CHECK(read_as({1, 0.5, 0}).empty());
    CHECK(read_as({1, -0.5}).empty());
    CHECK(read_as({1, std::nan(""), 0.25}).empty());
    CHECK(read_as({INFINITY, 1}).empty());
    CHECK(read_as(powers(10000, 8, 1e9)).empty());
    CHECK(read_as({}).empty());
}

TEST_CASE("frequencies of Llama 3.1 and of YaRN are scaled ones, if enough of them are between") {
    const auto llama = [](double factor, int count, double length) {
        return mixed(500000, count, factor, [&](int, double frequency) {
            return (frequency * length / (2 * 3.14159265358979323846) - 1) / (4 - 1);
        });
    };
    CHECK(read_as(llama(8, 64, 8192)) == "500000 [8, 1, 4, 8192]");
    CHECK(read_as(llama(8, 64, 8192), DType::f64) == "500000 [8, 1, 4, 8192]");
    CHECK(read_as(in_f32(llama(32, 32, 8192))) == "500000 [32, 1, 4, 8192]");
    CHECK(read_as(llama(8, 4, 8192)).empty()); // any line goes through one point
    const auto yarn = [](double first, double last) {
        return mixed(10000, 32, 16, [&](int k, double) { return (last - k) / (last - first); });
    };
    CHECK(read_as(in_f32(yarn(8, 20))) == "10000 [16, 8, 20]");
    CHECK(read_as(yarn(8.25, 17.5)) == "10000 [16, 8.25, 17.5]");
    // No line, neither in the index nor in the frequency.
    std::vector<double> frequencies = yarn(8, 20);
    frequencies[12] *= 1.001;
    CHECK(read_as(frequencies).empty());
    CHECK(
        read_as(mixed(10000, 32, 16, [](int k, double) { return std::sqrt((20.0 - std::min(k, 20)) / 12); })).empty());
}
