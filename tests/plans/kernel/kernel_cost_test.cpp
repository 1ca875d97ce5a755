// What kernels read and write, by hand.
#include "plans/kernel/kernel_cost.h"

#include <doctest/doctest.h>

namespace shard {

TEST_CASE("kernel cost: a lookup reads the rows that it takes, of a table that is smaller all") {
    const TensorType table{DType::bf16, {50304, 768}, {}}, indices{DType::i32, {64}, {}};
    const TensorType rows{DType::bf16, {64, 768}, {}};
    CHECK(kernel_bytes(Gather{0, 50304, {}}, std::vector{table, indices}, rows, -1) == 2 * 64 * 768 * 2 + 64 * 4);
    const TensorType few{DType::bf16, {2, 768}, {}};
    CHECK(kernel_bytes(Gather{0, 2, {}}, std::vector{few, indices}, rows, -1) == (64 + 2) * 768 * 2 + 64 * 4);
}

TEST_CASE("kernel cost: an update in place costs its piece, elsewhere what it leaves is copied too") {
    Move update;
    update.pieces = {{0, {Affine{}}, {1}, {Affine{}}, {1}, {8}}, {1, {Affine{}}, {1}, {Affine{3, {}}}, {1}, {2}}};
    const TensorType stack{DType::f32, {8}, {}}, piece{DType::f32, {2}, {}};
    const std::vector<TensorType> operands = {stack, piece};
    CHECK(kernel_bytes(update, operands, stack, 0) == 2 * 2 * 4);
    CHECK(kernel_bytes(update, operands, stack, -1) == 2 * (8 + 2) * 4);
}

TEST_CASE("kernel cost: arithmetic and bytes hide each other, or both count, and products have a rate of their own") {
    Hardware hardware;
    hardware.flops = {{"f32", 100.0}};
    hardware.memory_bandwidth = 10;
    hardware.kernel_launch = 0.5;
    const TensorType type{DType::f32, {4}, {}};
    const auto seconds = [&](const Kernel& kernel) {
        return kernel_seconds(hardware, kernel, std::vector{type, type}, type, 200, 40);
    };
    const Kernel product = Contract{{}, {}, {}}, sum = Pointwise{};
    CHECK(seconds(product) == doctest::Approx(0.5 + 4));
    CHECK(seconds(sum) == doctest::Approx(0.5 + 4));
    hardware.product_bandwidth = 80;
    CHECK(seconds(product) == doctest::Approx(0.5 + 2));
    CHECK(seconds(sum) == doctest::Approx(0.5 + 4));
    hardware.roofline_adds = true;
    CHECK(seconds(product) == doctest::Approx(0.5 + 2 + 0.5));
    CHECK(seconds(sum) == doctest::Approx(0.5 + 2 + 4));
}

TEST_CASE("a step that fits into the caches has their rates") {
    Hardware hardware;
    hardware.memory_bandwidth = 10;
    hardware.product_bandwidth = 5;
    hardware.cached = {1000, 40, 20};
    CHECK(for_working_set(hardware, 1000).memory_bandwidth == 40);
    CHECK(for_working_set(hardware, 1000).product_bandwidth == 20);
    CHECK(for_working_set(hardware, 1001) == hardware);
    hardware.cached = {};
    CHECK(for_working_set(hardware, 1) == hardware);
}

} // namespace shard
