// Values whose dims are turned, and turned back.
#include "importer/model/transposed.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("what is turned twice is turned once, and what is turned back is as it was") {
    Draft draft;
    const DraftId x = draft.input("x", {DType::f32, {2, 3, 4}}, false);
    CHECK(transposed(draft, x, {0, 1, 2}) == x);
    const DraftId turned = transposed(draft, x, {2, 0, 1}); // (4, 2, 3)
    CHECK(draft.type(turned).shape == Shape{4, 2, 3});
    CHECK(transposed(draft, turned, {1, 2, 0}) == x);
    const DraftId again = transposed(draft, turned, {2, 1, 0}); // (3, 2, 4)
    CHECK(draft.type(again).shape == Shape{3, 2, 4});
    CHECK(draft.entry_of(again)->operands == std::vector<DraftId>{x});
    CHECK(draft.entry_of(again)->arguments == ", permutation: [1, 0, 2]");
    const DraftId number = transposed(draft, draft.number({DType::f32, {2, 3}}, {1.5, 0}), {1, 0});
    CHECK(draft[number].number->real == 1.5);
    CHECK(draft.type(number).shape == Shape{3, 2});
    // What a loop hands on is something else in its other trips.
    draft.mark_carried(turned);
    CHECK(transposed(draft, turned, {1, 2, 0}) != x);
}
