// Scan, sort, gather with paired dims and scatter against loops written from the definition in plans/kernel/kernel.h.
#include "executor/elements/element.h"
#include "plans/kernel/kernel_in_place.h"
#include "plans/kernel/kernel_scratch.h"
#include "tests/executor/kernels/run_alone.h"
#include "tests/support/plan_builder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace shard {

namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();
const DType numbers[] = {DType::f32, DType::f64, DType::bf16, DType::i32, DType::i64, DType::u32};

Tensor of(DType dtype, Shape shape, const Values& values) {
    return make_tensor(dtype, std::move(shape), [&](i64 i) { return values[static_cast<size_t>(i)]; });
}

// Whole numbers with many equal ones.
Tensor drawn(DType dtype, Shape shape, int seed) {
    std::mt19937 random(static_cast<std::uint32_t>(seed));
    const int low = dtype == DType::u32 || dtype == DType::boolean ? 0 : -3, high = dtype == DType::boolean ? 1 : 4;
    return make_tensor(dtype, std::move(shape),
                       [&](i64) { return static_cast<double>(std::uniform_int_distribution<int>(low, high)(random)); });
}

} // namespace

TEST_CASE("scan runs along any dim, forwards and backwards, in every type and across blocks of columns") {
    for (const DType dtype : numbers)
        for (const bool reverse : {false, true})
            for (const int dim : {0, 1, 2}) {
                const Shape shape = {3, 5, 300};
                const Tensor input = drawn(dtype, shape, dim);
                const Values from = values(input),
                             sum = run_alone(Scan{dim, ScanOp::sum, reverse}, {input}, dtype, shape),
                             most = run_alone(Scan{dim, ScanOp::max, reverse}, {input}, dtype, shape);
                const std::vector<i64> strides = row_major_strides(shape);
                for (i64 flat = 0; flat < element_count(shape); ++flat) {
                    const i64 at = flat / strides[dim] % shape[dim], step = reverse ? strides[dim] : -strides[dim];
                    const i64 before = reverse ? shape[dim] - 1 - at : at;
                    double expected_sum = 0, expected_most = -infinity;
                    for (i64 n = 0; n <= before; ++n) {
                        expected_sum += from[static_cast<size_t>(flat + n * step)];
                        expected_most = std::max(expected_most, from[static_cast<size_t>(flat + n * step)]);
                    }
                    const bool wraps = dtype == DType::u32;
                    REQUIRE((wraps || dtype == DType::bf16 || sum[static_cast<size_t>(flat)] == expected_sum));
                    REQUIRE(most[static_cast<size_t>(flat)] == expected_most);
                }
            }
}

TEST_CASE("scan keeps its sums exact, its infinities and NaN, and the start of a recurrence is 0") {
    // 256 + 1 is no bf16, 256 + 1 + 1 is one: the sums are f64's.
    CHECK(run_alone(Scan{0, ScanOp::sum, false}, {of(DType::bf16, {3}, {256, 1, 1})}, DType::bf16, {3}) ==
          Values{256, 256, 258});
    CHECK(run_alone(Scan{0, ScanOp::prod, true}, {of(DType::f32, {3}, {2, -0.5, 4})}, DType::f32, {3}) ==
          Values{-4, -2, 4});
    CHECK(run_alone(Scan{0, ScanOp::min, false}, {of(DType::i32, {3}, {2, -1, 4})}, DType::i32, {3}) ==
          Values{2, -1, -1});
    const Values logs = run_alone(Scan{0, ScanOp::logsumexp, false},
                                  {of(DType::f64, {4}, {-infinity, 1000, 1000, infinity})}, DType::f64, {4});
    CHECK(logs[0] == -infinity);
    CHECK(logs[1] == 1000);
    CHECK(logs[2] == doctest::Approx(1000.6931471805599));
    CHECK(logs[3] == infinity);
    const Values most = run_alone(Scan{0, ScanOp::max, false}, {of(DType::f32, {3}, {1, NAN, 2})}, DType::f32, {3});
    CHECK(most[0] == 1);
    CHECK((std::isnan(most[1]) && std::isnan(most[2])));
    CHECK(run_alone(Scan{0, ScanOp::linear, true}, {of(DType::f32, {3}, {7, 2, 3}), of(DType::f32, {3}, {1, 10, 100})},
                    DType::f32, {3}) == Values{1 + 7 * 210, 210, 100});
}

TEST_CASE("sort gives the positions of the first ranks, equal elements in order, along any dim and in every type") {
    std::vector<DType> types(std::begin(numbers), std::end(numbers));
    types.push_back(DType::boolean);
    for (const DType dtype : types)
        for (const bool descending : {false, true})
            for (const int dim : {0, 1, 2})
                for (const bool second : {false, true})
                    for (const i64 count : {2, 7}) {
                        const Shape shape = {7, 7, 7};
                        Shape kept = shape;
                        kept[dim] = count;
                        std::vector<Tensor> keys = {drawn(dtype, shape, dim)};
                        if (second) keys.push_back(drawn(DType::f64, shape, 9));
                        const Values got = run_alone(Sort{dim, descending}, keys, DType::i32, kept);
                        const std::vector<i64> strides = row_major_strides(shape),
                                               kept_strides = row_major_strides(kept);
                        std::vector<Values> of_keys;
                        for (const Tensor& key : keys) of_keys.push_back(values(key));
                        for (i64 flat = 0; flat < element_count(kept); ++flat) {
                            i64 first = 0; // of the line that this element is in
                            for (size_t d = 0; d < 3; ++d)
                                if (static_cast<int>(d) != dim) first += flat / kept_strides[d] % kept[d] * strides[d];
                            std::vector<i64> order(7);
                            std::iota(order.begin(), order.end(), 0);
                            std::stable_sort(order.begin(), order.end(), [&](i64 a, i64 b) {
                                for (const Values& key : of_keys) {
                                    const double x = key[static_cast<size_t>(first + a * strides[dim])],
                                                 y = key[static_cast<size_t>(first + b * strides[dim])];
                                    if (x != y) return descending ? x > y : x < y;
                                }
                                return false;
                            });
                            REQUIRE(got[static_cast<size_t>(flat)] ==
                                    static_cast<double>(order[static_cast<size_t>(flat / kept_strides[dim] % count)]));
                        }
                    }
}

TEST_CASE("NaN is the largest number, 0 and -0 are equal, and the ends of a type are in order") {
    for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
        const Tensor keys = of(dtype, {7}, {0, NAN, infinity, -0.0, -infinity, -NAN, -1});
        CHECK(run_alone(Sort{0, false}, {keys}, DType::i32, {7}) == Values{4, 6, 0, 3, 2, 1, 5});
        CHECK(run_alone(Sort{0, true}, {keys}, DType::i32, {7}) == Values{1, 5, 2, 0, 3, 6, 4});
    }
    CHECK(run_alone(Sort{0, false}, {of(DType::i32, {3}, {2147483647, -2147483648.0, 0})}, DType::i32, {3}) ==
          Values{1, 2, 0});
    CHECK(run_alone(Sort{0, false}, {of(DType::i64, {3}, {1, -0x1p63, 0})}, DType::i32, {3}) == Values{1, 2, 0});
    CHECK(run_alone(Sort{0, true}, {of(DType::u32, {3}, {1, 4294967295.0, 0})}, DType::i32, {3}) == Values{1, 0, 2});
}

TEST_CASE("scratch of a sort is one row: a word per key and the positions, or words that hold both") {
    const auto bytes = [](std::vector<DType> keys) {
        std::vector<TensorType> types;
        for (const DType dtype : keys) types.push_back({dtype, {3, 10}, {}});
        return scratch_bytes(Sort{1, false}, types, {DType::i32, {3, 10}, {}});
    };
    CHECK(bytes({DType::f32}) == 80);
    CHECK(bytes({DType::f64}) == 160);
    CHECK(bytes({DType::f32, DType::f32}) == 240);
    CHECK(scratch_bytes(Scatter{0, 4, {}, ReduceOp::max, {}}, {}, {DType::bf16, {4}, {}}) == 0);
    CHECK(can_run_in_place(Scan{}, 0, {DType::f32, {3}, {}}, {DType::f32, {3}, {}}));
    CHECK_FALSE(can_run_in_place(Sort{}, 0, {DType::i32, {3}, {}}, {DType::i32, {3}, {}}));
}

TEST_CASE("gather and scatter with paired dims, in whichever order the indices have them") {
    const Tensor table = of(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6});
    const Tensor indices = of(DType::i32, {2, 2}, {2, -1, 9, 1}); // indices[k][a] of table[a][...]
    CHECK(run_alone(Gather{1, 3, {}, {{0, 1}}}, {table, indices}, DType::f32, {2, 2}) == Values{3, 3, 4, 5});
    CHECK(run_alone(Gather{1, 6, constant(1), {{0, 1}}}, {table, indices}, DType::f32, {2, 2}) == Values{2, 0, 0, 4});
    const Tensor updates = of(DType::f32, {2, 2}, {10, 20, 30, 40});
    const auto scatter = [&](ReduceOp op) {
        return run_alone(Scatter{1, 3, {}, op, {{0, 1}}}, {indices, updates}, DType::f32, {2, 3});
    };
    CHECK(scatter(ReduceOp::sum) == Values{0, 0, 30, 30, 40, 0});
    CHECK(scatter(ReduceOp::max) == Values{-infinity, -infinity, 20, 30, 40, -infinity});
    CHECK(scatter(ReduceOp::min) == Values{infinity, infinity, 10, 30, 40, infinity});
    CHECK(scatter(ReduceOp::prod) == Values{1, 1, 200, 30, 40, 1});
    const Tensor zeros = of(DType::i32, {3}, {0, 0, 0});
    CHECK(run_alone(Scatter{0, 2, {}, ReduceOp::max, {}}, {zeros, of(DType::bf16, {3}, {1, NAN, 2})}, DType::bf16,
                    {2})[1] == -infinity);
    CHECK(run_alone(Scatter{0, 1, {}, ReduceOp::min, {}}, {zeros, of(DType::i64, {3}, {1, -7, 2})}, DType::i64, {1}) ==
          Values{-7});
}

} // namespace shard
