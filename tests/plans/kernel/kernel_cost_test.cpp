// What kernels read and write, by hand.
#include "plans/kernel/kernel_cost.h"

#include <doctest/doctest.h>

namespace shard {

TEST_CASE("kernel cost: an update in place costs its piece, elsewhere what it leaves is copied too") {
    Move update;
    update.pieces = {{0, {Affine{}}, {1}, {Affine{}}, {1}, {8}}, {1, {Affine{}}, {1}, {Affine{3, {}}}, {1}, {2}}};
    const TensorType stack{DType::f32, {8}, {}}, piece{DType::f32, {2}, {}};
    const std::vector<TensorType> operands = {stack, piece};
    CHECK(kernel_bytes(update, operands, stack, 0) == 2 * 2 * 4);
    CHECK(kernel_bytes(update, operands, stack, -1) == 2 * (8 + 2) * 4);
}

} // namespace shard
