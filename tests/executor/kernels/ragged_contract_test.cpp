// Rows in groups against the interpreter's sums, over sizes that take several blocks and end within one.
#include "planner/graph/op_def.h"
#include "tests/executor/kernels/run_alone.h"
#include "tests/support/plan_builder.h"
#include "tests/support/ragged_interpreter.h"

#include <doctest/doctest.h>

#include <cmath>

namespace shard {

namespace {

Tensor waves(DType dtype, const Shape& shape, double phase) {
    return make_tensor(dtype, shape, [&](i64 i) { return std::sin(0.37 * static_cast<double>(i) + phase); });
}

Array array_of(const Tensor& tensor) { return {tensor.type.shape, values(tensor)}; }

// The largest difference, of the largest value.
double difference(const RaggedContract& kernel, const Shape& lhs, const Shape& rhs, const Tensor& sizes,
                  const Shape& out, DType dtype, DType result) {
    const std::vector<Tensor> inputs = {waves(dtype, lhs, 0), waves(dtype, rhs, 1), sizes};
    const std::vector<double> got = run_alone(kernel, inputs, result, out);
    const Array arrays[] = {array_of(inputs[0]), array_of(inputs[1]), array_of(inputs[2])};
    const bool of_rows = kernel.part == RaggedPart::rows;
    Apply apply;
    apply.op = find_op(of_rows ? "ragged_dot" : "ragged_dot_gradient");
    apply.attributes.set("transposed", kernel.transposed);
    Node node;
    node.does = apply;
    const Array want = find_ragged_op(apply.op->name)({&arrays[0], &arrays[1], &arrays[2]}, node, {result, out, {}});
    REQUIRE(got.size() == want.values.size());
    double most = 0, largest = 1e-30;
    for (size_t n = 0; n < got.size(); ++n) {
        most = std::max(most, std::isfinite(got[n]) ? std::fabs(got[n] - want.values[n]) : INFINITY);
        largest = std::max(largest, std::fabs(want.values[n]));
    }
    return most / largest;
}

Tensor sizes_of(std::vector<double> values, const Shape& shape, DType dtype = DType::i32) {
    return make_tensor(dtype, shape, [&](i64 i) { return values[static_cast<size_t>(i)]; });
}

} // namespace

TEST_CASE("rows in groups are multiplied by the matrices of their groups, whatever the sizes") {
    struct Case {
        DType dtype, result;
        double allowed;
    };
    for (const Case& one : {Case{DType::f64, DType::f64, 1e-12}, Case{DType::f32, DType::f32, 1e-5},
                            Case{DType::bf16, DType::bf16, 5e-3}, Case{DType::bf16, DType::f32, 1e-5}}) {
        CAPTURE(name(one.dtype));
        // 1100 rows of one group are several blocks; a group of none, one of less than none, rows behind all.
        for (const std::vector<double>& sizes :
             {std::vector<double>{1100, 0, 150}, {-3, 1300, 7}, {0, 0, 0}, {1, 2, 3}, {5, 5000, 5}}) {
            const Tensor counts = sizes_of(sizes, {3});
            CHECK(difference({}, {1300, 9}, {3, 9, 5}, counts, {1300, 5}, one.dtype, one.result) < one.allowed);
            CHECK(difference({RaggedPart::rows, true}, {1300, 9}, {3, 5, 9}, counts, {1300, 5}, one.dtype, one.result) <
                  one.allowed);
            CHECK(difference({RaggedPart::groups}, {1300, 9}, {1300, 5}, counts, {3, 9, 5}, one.dtype, one.result) <
                  one.allowed);
        }
        const Tensor batches = sizes_of({3, 1, 0, 9, 2, 2, 1, 1, 1, 5, 0, 0}, {2, 3, 2}, DType::u8);
        CHECK(difference({}, {2, 3, 6, 4}, {2, 4, 5}, batches, {2, 3, 6, 5}, one.dtype, one.result) < one.allowed);
        CHECK(difference({}, {2, 3, 6, 4}, {3, 2, 4, 5}, batches, {2, 3, 6, 5}, one.dtype, one.result) < one.allowed);
        CHECK(difference({RaggedPart::groups}, {2, 3, 6, 4}, {2, 3, 6, 5}, batches, {3, 2, 4, 5}, one.dtype,
                         one.result) < one.allowed);
        CHECK(difference({RaggedPart::groups}, {2, 3, 6, 4}, {2, 3, 6, 5}, batches, {2, 3, 2, 4, 5}, one.dtype,
                         one.result) < one.allowed);
    }
}

TEST_CASE("a device makes its rows of its groups, and zeros of the others") {
    const Tensor x = make_tensor(DType::f32, {4, 1}, [](i64 i) { return static_cast<double>(i + 1); }),
                 w = make_tensor(DType::f32, {2, 1, 1}, [](i64 i) { return static_cast<double>(i == 0 ? 10 : 100); });
    const Tensor counts = sizes_of({3, 2, 1, 9}, {4});
    // Rows 2 to 5, groups 1 and 2 of 4: row 2 is of group 0, 3 and 4 of group 1, 5 of group 2.
    RaggedContract kernel = {RaggedPart::rows, false, constant(2), constant(1)};
    CHECK(run_alone(kernel, {x, w, counts}, DType::f32, {4, 1}) == std::vector<double>{0, 20, 30, 400});
    // Groups 3 and 4, the second of which is behind the last one.
    CHECK(run_alone(RaggedContract{RaggedPart::rows, false, constant(5), constant(3)}, {x, w, counts}, DType::f32,
                    {4, 1}) == std::vector<double>{0, 20, 30, 40});
    kernel.part = RaggedPart::groups;
    CHECK(run_alone(kernel, {x, x, counts}, DType::f32, {2, 1, 1}) == std::vector<double>{4 + 9, 16});
    kernel.row = constant(100);
    CHECK(run_alone(kernel, {x, x, counts}, DType::f32, {2, 1, 1}) == std::vector<double>{0, 0});
}

TEST_CASE("sizes that add up beyond 64 bits end where the rows end") {
    const Tensor x = make_tensor(DType::f32, {2, 1}, [](i64) { return 1.0; });
    const Tensor counts = sizes_of({1, 9e18, 9e18}, {3}, DType::i64);
    CHECK(run_alone(RaggedContract{RaggedPart::groups, false, {}, {}}, {x, x, counts}, DType::f32, {3, 1, 1}) ==
          std::vector<double>{1, 1, 0});
}

} // namespace shard
