// The attention kernel on f32 against its two contractions, whole, as plain OpenBLAS: q k^T and then that times v. Both
// on one core.
//
//     bench_attention [length] [width] [heads] [rounds]
#include "executor/kernels/blas.h"
#include "executor/kernels/kernels.h"
#include "plans/kernel/kernel_scratch.h"

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

void compare(i64 length, i64 width, i64 heads, bool causal, int rounds) {
    const Shape shape = {1, length, heads, width};
    const i64 count = length * heads * width;
    std::vector<float> q = drawn(count, 1), k = drawn(count, 2), v = drawn(count, 3), out(q.size()),
                       scores(static_cast<size_t>(length * length));
    const auto operand = [&](std::vector<float>& values) {
        return Operand{DType::f32, &shape, reinterpret_cast<const std::byte*>(values.data())};
    };
    const std::vector<Operand> operands = {operand(q), operand(k), operand(v)};
    std::vector<TensorType> types;
    for (const Operand& each : operands) types.push_back(each.type());
    Attend attend;
    attend.causal = causal;
    attend.scale = 0.1;
    std::vector<std::byte> memory(static_cast<size_t>(scratch_bytes(attend, types, types[0])));
    std::vector<double> kernel, plain;
    for (int round = 0; round < rounds; ++round) {
        const Clock::time_point begin = Clock::now();
        Scratch scratch(memory.data(), static_cast<i64>(memory.size()));
        run_kernel(attend, {operands, {DType::f32, &shape, reinterpret_cast<std::byte*>(out.data())}, scratch, {}});
        kernel.push_back(seconds_since(begin));
        const Clock::time_point second = Clock::now();
        const i64 ld = heads * width;
        for (i64 head = 0; head < heads; ++head) {
            const MatrixRef<float> whole = {scores.data(), false, length};
            const i64 at = head * width;
            gemm(length, length, width, {q.data() + at, false, ld}, {k.data() + at, true, ld}, whole);
            gemm(length, width, length, {scores.data(), false, length}, {v.data() + at, false, ld},
                 {out.data() + at, false, ld});
        }
        plain.push_back(seconds_since(second));
    }
    std::printf("%s attention, %lld positions of %lld: %.1f ms, its contractions %.1f ms, speed %.2f\n",
                causal ? "causal" : "full", static_cast<long long>(length), static_cast<long long>(width),
                median(kernel) * 1e3, median(plain) * 1e3, median(plain) / median(kernel));
}

} // namespace
} // namespace shard

int main(int argc, char** argv) {
    const auto argument = [&](int n, long fallback) { return argc > n ? std::atol(argv[n]) : fallback; };
    const long length = argument(1, 2048), width = argument(2, 128), heads = argument(3, 4);
    const int rounds = static_cast<int>(argument(4, 9));
    shard::compare(length, width, heads, false, rounds);
    shard::compare(length, width, heads, true, rounds);
}
