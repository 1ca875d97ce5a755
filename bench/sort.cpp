// The sort kernel on rows of random f32, all and the first k of each, against std::sort and std::partial_sort of the
// same rows: each core has rows of its own, on both sides. The kernel gives positions, the others move the numbers.
//
//     bench_sort [rows] [length] [k] [rounds]
#include "executor/kernels/kernels.h"
#include "plans/kernel/kernel_scratch.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <thread>

namespace shard {
namespace {

struct Sizes {
    i64 rows, length, first;
};

// Seconds until every core has done its rows; rows that are left over are left out.
double on_all_cores(const Sizes& sizes, const std::function<void(i64 row, i64 rows)>& work) {
    const i64 cores = std::max<i64>(1, std::thread::hardware_concurrency()), each = sizes.rows / cores;
    const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
    std::vector<std::thread> threads;
    for (i64 core = 0; core < cores; ++core) threads.emplace_back([&, core] { work(core * each, each); });
    for (std::thread& thread : threads) thread.join();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double kernel_seconds(const Sizes& sizes, std::vector<float>& data, std::vector<std::int32_t>& positions) {
    return on_all_cores(sizes, [&](i64 row, i64 rows) {
        const Shape in = {rows, sizes.length}, out = {rows, sizes.first};
        const Sort sort = {1, true};
        const TensorType key = {DType::f32, in, {}};
        std::vector<std::byte> memory(static_cast<size_t>(sort_scratch(std::span(&key, 1), sort).bytes));
        Scratch scratch(memory.data(), static_cast<i64>(memory.size()));
        const Operand operand = {DType::f32, &in, reinterpret_cast<std::byte*>(data.data() + row * sizes.length)};
        run_kernel(sort, {std::span(&operand, 1),
                          {DType::i32, &out, reinterpret_cast<std::byte*>(positions.data() + row * sizes.first)},
                          scratch,
                          {}});
    });
}

double plain_seconds(const Sizes& sizes, const std::vector<float>& data) {
    std::vector<float> copy = data;
    return on_all_cores(sizes, [&](i64 row, i64 rows) {
        for (i64 r = row; r < row + rows; ++r) {
            float* begin = copy.data() + r * sizes.length;
            if (sizes.first == sizes.length)
                std::sort(begin, begin + sizes.length, std::greater());
            else
                std::partial_sort(begin, begin + sizes.first, begin + sizes.length, std::greater());
        }
    });
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void compare(const char* name, const Sizes& sizes, int rounds) {
    std::vector<float> data(static_cast<size_t>(sizes.rows * sizes.length));
    std::vector<std::int32_t> positions(static_cast<size_t>(sizes.rows * sizes.first));
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (float& value : data) value = normal(random);
    std::vector<double> kernel, plain;
    for (int round = 0; round < rounds; ++round) {
        kernel.push_back(kernel_seconds(sizes, data, positions));
        plain.push_back(plain_seconds(sizes, data));
    }
    std::printf("%s of %lld rows of %lld: %.2f ms, plain %.2f ms, speed %.2f\n", name,
                static_cast<long long>(sizes.rows), static_cast<long long>(sizes.length), median(kernel) * 1e3,
                median(plain) * 1e3, median(plain) / median(kernel));
}

} // namespace
} // namespace shard

int main(int argc, char** argv) {
    const auto argument = [&](int n, long fallback) { return argc > n ? std::atol(argv[n]) : fallback; };
    const long rows = argument(1, 64), length = argument(2, 32768), first = argument(3, 8);
    const int rounds = static_cast<int>(argument(4, 9));
    shard::compare("sort", {rows, length, length}, rounds);
    shard::compare("top_k", {rows, length, first}, rounds);
}
