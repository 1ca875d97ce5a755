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

} // namespace shard
