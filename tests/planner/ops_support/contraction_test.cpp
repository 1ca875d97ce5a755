// Rules as reference: Shardy's, factors in the order batch, left only, right only, contracted.
#include "tests/support/op_harness.h"

#include <doctest/doctest.h>

namespace shard {

TEST_CASE("dot contracts the last dim of the left with the second-to-last of the right") {
    CHECK(rule_of("dot", {f32({8, 32}), f32({32, 16})}) == "([i, k],[k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}");
    CHECK(rule_of("dot", {f32({8, 32}), f32({32})}) == "([i, j],[j])->([i]) {i=8, j=32} reduction={j}");
    CHECK(rule_of("dot", {f32({32}), f32({32, 4})}) == "([j],[j, i])->([i]) {i=4, j=32} reduction={j}");
    CHECK(rule_of("dot", {f32({2, 8, 32}), f32({32, 16})}) ==
          "([i, j, l],[l, k])->([i, j, k]) {i=2, j=8, k=16, l=32} reduction={l}");
    CHECK(rule_of("dot", {f32({4, 8, 32}), f32({4, 32, 16})}) ==
          "([i, j, l],[i, l, k])->([i, j, k]) {i=4, j=8, k=16, l=32} reduction={l}");
    CHECK(shape_of("dot", {f32({4, 8, 32}), f32({4, 32, 16})}) == "(4, 8, 16)");
}

TEST_CASE("dot refuses shapes and types that do not fit, and says which") {
    CHECK(shape_of("dot", {f32({8, 32}), f32({16, 32})}) ==
          "error E0223: the shapes of x0 (8, 32) and x1 (16, 32) do not fit for 'dot'");
    CHECK(shape_of("dot", {f32({2, 8, 32}), f32({4, 32, 16})}) ==
          "error E0223: the shapes of x0 (2, 8, 32) and x1 (4, 32, 16) do not fit for 'dot'");
    CHECK(shape_of("dot", {f32({}), f32({4})}) == "error E0223: 'dot' contracts a dim, and x0 () is a scalar");
    CHECK(shape_of("dot", {f32({8, 32}), typed(DType::bf16, {32, 16})}) ==
          "error E0224: the operands of 'dot' have different element types: x0 is f32, x1 is bf16");
    CHECK(shape_of("dot", {f32({8, 32})}) == "error E0221: 'dot' takes 2 operands, but 1 is given");
}

TEST_CASE("einsum of two operands is one node with the letters as factors") {
    CHECK(rule_of("einsum", {f32({2, 8, 4, 16}), f32({2, 8, 4, 16})}, {{"equation", "blhd,bmhd->bhlm"}}) ==
          "([i, k, j, m],[i, l, j, m])->([i, j, k, l]) {i=2, j=4, k=8, l=8, m=16} reduction={m}");
    CHECK(shape_of("einsum", {f32({2, 3, 5}), f32({5, 7})}, {{"equation", "...k,kj->...j"}}) == "(2, 3, 7)");
    CHECK(shape_of("einsum", {f32({2, 3}), f32({3, 5})}, {{"equation", "ij,jk"}}) == "(2, 5)");
}

TEST_CASE("einsum writes what one contraction cannot hold as several nodes") {
    const auto ops = [](std::string equation, std::vector<TensorType> operands) {
        return ops_of(emit("einsum", std::move(operands), {{"equation", std::move(equation)}}).graph);
    };
    CHECK(ops("ij->ji", {f32({2, 3})}) == "transpose");
    CHECK(ops("ij->j", {f32({2, 3})}) == "reduce_sum");
    CHECK(ops("ij,jk->k", {f32({2, 3}), f32({3, 4})}) == "reduce_sum einsum");
    CHECK(ops("ii->", {f32({3, 3})}) == "iota iota eq constant select reduce_sum reduce_sum");
    CHECK(ops("ab,bc,cd->ad", {f32({2, 3}), f32({3, 4}), f32({4, 5})}) == "einsum einsum");
    CHECK(shape_of("einsum", {f32({2, 3}), f32({3, 4}), f32({4, 5})}, {{"equation", "ab,bc,cd->da"}}) == "(5, 2)");
    CHECK(shape_of("einsum", {f32({3, 3})}, {{"equation", "ii->i"}}) == "(3,)");
}

TEST_CASE("einsum says what is wrong with an equation") {
    const auto error = [](std::string equation, std::vector<TensorType> operands) {
        return shape_of("einsum", std::move(operands), {{"equation", std::move(equation)}});
    };
    CHECK(error("ij,jk->ik", {f32({2, 3})}) ==
          "error E0229: einsum \"ij,jk->ik\": the equation has 2 operands, but 1 are given");
    CHECK(error("ij->ii", {f32({2, 3})}) == "error E0229: einsum \"ij->ii\": letter 'i' is twice in the result");
    CHECK(error("ij->ik", {f32({2, 3})}) ==
          "error E0229: einsum \"ij->ik\": letter 'k' of the result is in no operand");
    CHECK(error("i->i", {f32({2, 3})}) == "error E0229: einsum \"i->i\": 'i' names 1 dims, but operand 0 has 2");
    CHECK(error("i1->i", {f32({2, 3})}) == "error E0229: einsum \"i1->i\": 'i1' may hold letters and one '...' only");
    CHECK(error("ij,jk->ik", {f32({2, 3}), f32({4, 5})}) ==
          "error E0223: the shapes of x0 (2, 3) and x1 (4, 5) do not fit for 'ij,jk->ik'");
}

TEST_CASE("a contraction lowers to a contract kernel with the factors as labels") {
    const Kernel kernel = kernel_of(emit("dot", {f32({4, 8, 32}), f32({4, 32, 16})}));
    REQUIRE(class_name(kernel) == "contract");
    CHECK(std::get<Contract>(kernel) == Contract{{0, 1, 3}, {0, 3, 2}, {0, 1, 2}});
    CHECK(flops(kernel, std::vector<TensorType>{f32({4, 8, 32}), f32({4, 32, 16})}, f32({4, 8, 16})) ==
          2 * 4 * 8 * 16 * 32);
}

} // namespace shard
