// As plan_check_kernel_test.cpp: the rules of contractions of rows in groups.
#include "tests/plans/plan/checked_kernel.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("check of a ragged contraction: rows, matrices and sizes that fit each other") {
    const auto with = [](const RaggedContract& ragged, const Types& inputs, const TensorType& output) {
        return problem_of(ragged, inputs, output);
    };
    const TensorType x = f32({2, 6, 4}), w = f32({3, 4, 5}), sizes = of(DType::i32, {2, 3}), y = f32({2, 6, 5});
    const RaggedContract plain, turned = {RaggedPart::rows, true, {}, {}}, groups = {RaggedPart::groups, false, {}, {}};
    CHECK(with(plain, {x, w, sizes}, y) == "");
    CHECK(with(plain, {x, f32({2, 3, 4, 5}), sizes}, y) == "");
    CHECK(with(plain, {x, f32({1, 4, 5}), sizes}, y) == ""); // one of the groups
    CHECK(with(turned, {x, f32({3, 5, 4}), sizes}, y) == "");
    CHECK(with(groups, {x, y, sizes}, w) == "");
    CHECK(with(groups, {x, y, sizes}, f32({2, 3, 4, 5})) == "");
    CHECK(with(plain, {x, w}, y) == "ragged_contract: it takes two operands and sizes");
    CHECK(with(plain, {x, of(DType::bf16, {3, 4, 5}), sizes}, y) == "ragged_contract: operands of two types");
    CHECK(with(plain, {of(DType::i32, {2, 6, 4}), of(DType::i32, {3, 4, 5}), sizes}, y) ==
          "ragged_contract: only floating-point types multiply");
    CHECK(with(plain, {x, w, sizes}, of(DType::bf16, {2, 6, 5})) == "ragged_contract: a result of another type");
    CHECK(with(plain, {x, w, f32({2, 3})}, y) == "ragged_contract: sizes that are no whole numbers");
    CHECK(with({RaggedPart::groups, true, {}, {}}, {x, y, sizes}, w) ==
          "ragged_contract: only matrices of groups are transposed");
    for (const Types& inputs : {Types{f32({4}), w, sizes},
                                {x, f32({4, 5}), sizes},
                                {x, w, of(DType::i32, {3})},
                                {x, f32({1, 2, 3, 4, 5}), sizes}})
        CHECK(with(plain, inputs, y) == "ragged_contract: tensors of other ranks");
    CHECK(with(plain, {x, w, sizes}, f32({2, 7, 5})) == "ragged_contract: rows of two shapes");
    CHECK(with(plain, {x, w, of(DType::i32, {3, 3})}, y) == "ragged_contract: sizes of another batch");
    CHECK(with(plain, {x, f32({3, 3, 4, 5}), sizes}, y) == "ragged_contract: matrices of another batch");
    CHECK(with(turned, {x, w, sizes}, y) == "ragged_contract: matrices of another size");
    CHECK(with(plain, {x, f32({4, 4, 5}), sizes}, y) == "ragged_contract: more groups than there are in all");
}
