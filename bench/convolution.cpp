// The convolution kernel on f32 against a product of matrices of the same size, as plain OpenBLAS: the 3 x 3 stages of
// ResNet-50, forward and both gradients. Both on one core.
//
//     bench_convolution [images] [rounds]
#include "executor/kernels/blas.h"
#include "executor/kernels/convolve.h"
#include "plans/kernel/convolve_sizes.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace shard {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

std::vector<float> drawn(i64 count, unsigned seed) {
    std::vector<float> values(static_cast<size_t>(count));
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (float& value : values) value = normal(random);
    return values;
}

struct Case {
    const char* name;
    Convolve kernel;
    Shape lhs, rhs, out;
    i64 rows, terms, columns; // of the product
};

void compare(const Case& one, int rounds) {
    const std::vector<float> lhs = drawn(element_count(one.lhs), 1), rhs = drawn(element_count(one.rhs), 2);
    std::vector<float> out(static_cast<size_t>(element_count(one.out)));
    const auto operand = [](const Shape& shape, const std::vector<float>& values) {
        return Operand{DType::f32, &shape, reinterpret_cast<const std::byte*>(values.data())};
    };
    const std::vector<Operand> operands = {operand(one.lhs, lhs), operand(one.rhs, rhs)};
    const TensorType types[] = {operands[0].type(), operands[1].type()};
    const ConvolveSizes sizes = convolve_sizes(one.kernel, types, {DType::f32, one.out, {}});
    std::vector<std::byte> memory(static_cast<size_t>(convolve_scratch(sizes, DType::f32).bytes));
    const std::vector<float> left = drawn(one.rows * one.terms, 3), right = drawn(one.terms * one.columns, 4);
    std::vector<float> product(static_cast<size_t>(one.rows * one.columns));
    std::vector<double> kernel, plain;
    for (int round = 0; round < rounds; ++round) {
        const Clock::time_point begin = Clock::now();
        Scratch scratch(memory.data(), static_cast<i64>(memory.size()));
        run_convolve(one.kernel,
                     {operands, {DType::f32, &one.out, reinterpret_cast<std::byte*>(out.data())}, scratch, {}});
        kernel.push_back(seconds_since(begin));
        const Clock::time_point second = Clock::now();
        gemm(one.rows, one.columns, one.terms, {left.data(), false, one.terms}, {right.data(), false, one.columns},
             {product.data(), false, one.columns});
        plain.push_back(seconds_since(second));
    }
    std::printf("%-28s %.1f ms, the product %.1f ms, speed %.2f\n", one.name, median(kernel) * 1e3, median(plain) * 1e3,
                median(plain) / median(kernel));
}

void compare_stage(i64 images, i64 size, i64 channels, int rounds) {
    const Shape x = {images, size, size, channels}, w = {3, 3, channels, channels};
    const std::vector<Slide> same = {{1, 1, 1, 1, false}, {1, 1, 1, 1, false}},
                             reversed = {{1, 1, 1, 1, true}, {1, 1, 1, 1, true}};
    const i64 places = images * size * size;
    std::printf("%lld images of %lld x %lld x %lld\n", static_cast<long long>(images), static_cast<long long>(size),
                static_cast<long long>(size), static_cast<long long>(channels));
    compare({"  forward", {"nhwi,hwio->nhwo", 1, same}, x, w, x, places, 9 * channels, channels}, rounds);
    compare({"  gradient of the operand", {"nhwo,hwio->nhwi", 1, reversed}, x, w, x, places, 9 * channels, channels},
            rounds);
    compare({"  gradient of the window", {"nhwi,nhwo->hwio", 1, same}, x, x, w, 9 * channels, places, channels},
            rounds);
}

} // namespace
} // namespace shard

int main(int argc, char** argv) {
    const auto argument = [&](int n, long fallback) { return argc > n ? std::atol(argv[n]) : fallback; };
    const long images = argument(1, 8);
    const int rounds = static_cast<int>(argument(2, 7));
    shard::Diagnostics diagnostics;
    if (!shard::load_blas(diagnostics)) return 1;
    for (const long scale : {1, 2, 4, 8}) shard::compare_stage(images, 56 / scale, 64 * scale, rounds);
}
