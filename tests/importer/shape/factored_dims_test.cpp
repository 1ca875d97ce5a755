#include "importer/shape/factored_dims.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

struct Moved {
    Draft draft;
    FactoredDims factors;
    FactorDims above(DraftId value, const FactorDims& dims, bool through_broadcasts = false) {
        const std::optional<FactorDims> found =
            factors.above(draft, *draft.entry_of(value), dims, {through_broadcasts, true});
        REQUIRE(found.has_value());
        return *found;
    }
};

} // namespace

TEST_CASE(
    "a reshape that puts dims together has their factors, one that takes them apart splits them wherever they are") {
    Moved moved;
    Draft& draft = moved.draft;
    const DraftId x = draft.input("x", {DType::f32, {2, 12}}, false);
    const DraftId apart = draft.add("reshape", {x}, ", shape: [2, 3, 4]", {DType::f32, {2, 3, 4}});
    const DraftId together = draft.add("reshape", {apart}, ", shape: [6, 4]", {DType::f32, {6, 4}});
    const FactorDims made = moved.factors.fresh({6, 4}); // 0, 1
    CHECK(moved.above(together, made) == FactorDims{{2}, {3}, {1}});
    CHECK(moved.factors.all(made) == Factors{2, 3, 1});
    CHECK(moved.factors.size({2}) == 2);
    CHECK(moved.above(apart, {{2}, {3}, {1}}) == FactorDims{{2}, {3, 1}});
    CHECK(moved.factors.shape({{2}, {3, 1}, {}}) == Shape{2, 12, 1});
}

TEST_CASE("transposes and broadcasts are gone back through, and sizes that do not divide are not") {
    Moved moved;
    Draft& draft = moved.draft;
    const DraftId x = draft.input("x", {DType::f32, {2, 3}}, false);
    const DraftId turned = draft.add("transpose", {x}, ", permutation: [1, 0]", {DType::f32, {3, 2}});
    const DraftId repeated = draft.add("broadcast", {x}, ", shape: [2, 4, 3], dims: [0, 2]", {DType::f32, {2, 4, 3}});
    const DraftId other = draft.add("reshape", {x}, ", shape: [6]", {DType::f32, {6}});
    CHECK(moved.above(turned, {{7}, {8}}) == FactorDims{{8}, {7}});
    CHECK(moved.above(repeated, {{7}, {8}, {9}}, true) == FactorDims{{7}, {9}});
    CHECK(!moved.factors.above(draft, *draft.entry_of(repeated), {{7}, {8}, {9}}));
    const FactorDims of_four = moved.factors.fresh({4});
    CHECK(!moved.factors.above(draft, *draft.entry_of(other), of_four));
    CHECK(moved.factors.aligned({1, 3}, {2, 4, 3}, {{7}, {8}, {9}}) == FactorDims{{}, {9}});
}
