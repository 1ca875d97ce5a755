#include "importer/shape/element.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

Place along(int dim, i64 at = 0) { return {.along = dim, .at = at}; }
Place at(i64 place) { return {.at = place}; }

struct Values {
    Draft draft;
    DraftId x = draft.input("x", {DType::f32, {2, 5, 8}}, false);

    DraftId moved(const std::string& op, const std::string& arguments, Shape shape) {
        return draft.add(op, {x}, arguments, {DType::f32, std::move(shape)});
    }
    // Of x, which an element of a value was.
    std::vector<Place> before(DraftId value, std::vector<Place> index) const {
        const std::optional<Element> found = moved_from(draft, {value, std::move(index)});
        return found && found->value == x ? found->index : std::vector<Place>();
    }
};

} // namespace

TEST_CASE("an element is followed to where it was before it was moved") {
    Values values;
    const DraftId transposed = values.moved("transpose", ", permutation: [1, 2, 0]", {5, 8, 2});
    CHECK(values.before(transposed, {along(0), at(3), along(2)}) == std::vector{along(2), along(0), at(3)});
    const DraftId sliced =
        values.moved("slice", ", dim: [1, 2], start: [2, 1], limit: [4, 8], stride: [1, 2]", {2, 2, 4});
    CHECK(values.before(sliced, {along(0), along(1), at(3)}) == std::vector{along(0), along(1, 2), at(7)});
    CHECK(values.before(sliced, {along(0), along(1), along(2)}).empty()); // every second one is no place along a dim
    const DraftId apart = values.moved("reshape", ", shape: [2, 1, 5, 4, 2]", {2, 1, 5, 4, 2});
    CHECK(values.before(apart, {along(0), at(0), along(2), at(3), at(1)}) == std::vector{along(0), along(2), at(7)});
    CHECK(values.before(apart, {along(0), at(0), along(2), along(3), at(1)}).empty());
    const DraftId together = values.moved("reshape", ", shape: [2, 40]", {2, 40});
    CHECK(values.before(together, {along(0), at(17)}) == std::vector{along(0), at(2), at(1)});
    const DraftId repeated = values.moved("broadcast", ", shape: [3, 2, 5, 8], dims: [1, 2, 3]", {3, 2, 5, 8});
    CHECK(values.before(repeated, {along(0), along(1), at(4), at(5)}) == std::vector{along(1), at(4), at(5)});
    CHECK(values.before(values.draft.pointwise("neg", {values.x}, {DType::f32, {2, 5, 8}}), {at(0), at(0), at(0)})
              .empty());
}

TEST_CASE("an element of a concatenation was one of the operand that has its place") {
    Values values;
    const DraftId y = values.draft.input("y", {DType::f32, {2, 5, 3}}, false);
    const DraftId both = values.draft.add("concatenate", {y, values.x}, ", dim: 2", {DType::f32, {2, 5, 11}});
    CHECK(values.before(both, {along(0), along(1), at(3)}) == std::vector{along(0), along(1), at(0)});
    const std::optional<Element> first = moved_from(values.draft, {both, {along(0), along(1), at(2)}});
    REQUIRE(first.has_value());
    CHECK(first->value == y);
    CHECK(first->index == std::vector{along(0), along(1), at(2)});
    CHECK(!moved_from(values.draft, {both, {at(0), along(1), along(2)}}).has_value());
}

TEST_CASE("operands are aligned at the last dim, and dims of size 1 have one place") {
    Values values;
    const DraftId row = values.draft.input("row", {DType::f32, {1, 8}}, false);
    CHECK(of_operand(values.draft, {values.x, {along(0), along(1), at(6)}}, row).index == std::vector{at(0), at(6)});
}

TEST_CASE("an element that was looked up is one of the table, at a place that an index says") {
    Values values;
    const DraftId indices = values.draft.input("i", {DType::i32, {3, 1}}, false);
    const auto gathered = [&](bool is_inside) {
        const DraftId found = values.draft.add("gather", {values.x, indices}, ", dim: 1", {DType::f32, {2, 3, 1, 8}});
        if (is_inside) values.draft.mark_inside(values.draft.entry_count() - 1);
        return looked_up(values.draft, {found, {along(0), along(1), at(0), at(6)}});
    };
    const std::optional<Element> moved_in = gathered(false);
    REQUIRE(moved_in.has_value());
    CHECK(moved_in->index[1].by->last == 4);
    const std::optional<Element> element = gathered(true);
    REQUIRE(element.has_value());
    CHECK(element->value == values.x);
    CHECK(element->index[0] == along(0));
    CHECK(element->index[2] == at(6));
    CHECK(!element->index[1].is_number());
    REQUIRE(element->index[1].by != nullptr);
    CHECK(element->index[1].by->value == indices);
    CHECK(element->index[1].by->last == -1);
    CHECK(element->index[1].by->index == std::vector{along(1), at(0)});
}

TEST_CASE("values are alike if the same ops make them of the same values") {
    Values values;
    const DraftType type{DType::f32, {2, 5, 8}};
    const auto scaled = [&](double by, const std::string& op) {
        return values.draft.pointwise(op, {values.x, values.draft.number({DType::f32, {}}, {by, 0})}, type);
    };
    CHECK(are_alike(values.draft, scaled(2, "mul"), scaled(2, "mul")));
    CHECK(!are_alike(values.draft, scaled(2, "mul"), scaled(3, "mul")));
    CHECK(!are_alike(values.draft, scaled(2, "mul"), scaled(2, "add")));
    CHECK(!are_alike(values.draft, scaled(2, "mul"), values.x));
    CHECK(!are_alike(values.draft, values.draft.input("y", type, false), values.x));
    const DraftId one = values.moved("slice", ", dim: [0], start: [0], limit: [1]", {1, 5, 8}),
                  other = values.moved("slice", ", dim: [0], start: [1], limit: [2]", {1, 5, 8});
    CHECK(!are_alike(values.draft, one, other));
}
