#include "importer/shape/rope_angles.h"

#include <cmath>
#include <doctest/doctest.h>

using namespace shard;

namespace {

// Angles of (length 6, pairs 4).
struct Angles {
    Draft draft;
    DraftId lengths = counted(6), pairs = counted(4);

    DraftId counted(i64 size) {
        const DraftId value = draft.literal("iota", list_text({size}), {}, "", {DType::i32, {size}});
        draft.mark_count(value);
        return value;
    }
    DraftId add(const std::string& op, const std::vector<DraftId>& operands, const Shape& shape) {
        return draft.pointwise(op, operands, {DType::f32, shape});
    }
    DraftId number(double number) { return draft.number({DType::f32, {}}, {number, 0}); }
    DraftId column(DraftId value) { return draft.add("reshape", {value}, "", {DType::f32, {6, 1}}); }
    std::optional<Angle> read(DraftId value, i64 k) const {
        return AngleReader(draft, DType::f32).read({value, {{0, 0}, {-1, k}}});
    }
};

} // namespace

TEST_CASE("an angle is a position times what is computed of numbers") {
    Angles angles;
    const DraftId position = angles.column(angles.draft.cast(angles.lengths, DType::f32));
    const DraftId k = angles.draft.cast(angles.pairs, DType::f32);
    const DraftId scale = angles.add("pow", {angles.number(16), angles.add("div", {k, angles.number(4)}, {4})}, {4});
    const std::optional<Angle> quotient = angles.read(angles.add("div", {position, scale}, {6, 4}), 3);
    REQUIRE(quotient.has_value());
    CHECK(quotient->frequency == doctest::Approx(1 / 8.0));
    CHECK(quotient->position.value == angles.lengths);
    CHECK(quotient->position.index == std::vector<Place>{{0, 0}});
    // The other way round it is no product.
    CHECK(!angles.read(angles.add("div", {scale, position}, {6, 4}), 3).has_value());
    CHECK(!angles.read(angles.add("mul", {position, angles.add("mul", {position, scale}, {6, 4})}, {6, 4}), 3)
               .has_value());
    // Whatever is computed of positions alone is a position.
    const DraftId later = angles.add("add", {position, angles.number(3)}, {6, 1});
    const std::optional<Angle> shifted = angles.read(angles.add("mul", {later, scale}, {6, 4}), 1);
    REQUIRE(shifted.has_value());
    CHECK(shifted->frequency == doctest::Approx(2));
    CHECK(shifted->position.value == later);
}

TEST_CASE("numbers that are rounded to fewer digits are not those of the formula") {
    Angles angles;
    const DraftId position = angles.column(angles.draft.cast(angles.lengths, DType::f32));
    const DraftId narrow = angles.draft.cast(angles.draft.cast(angles.pairs, DType::bf16), DType::f32);
    CHECK(!angles.read(angles.add("mul", {position, narrow}, {6, 4}), 1).has_value());
    const DraftId table = angles.draft.list({DType::f32, {4}}, {{1, 0}, {0.5, 0}, {0.25, 0}, {std::nan(""), 0}});
    CHECK(!angles.read(angles.add("mul", {position, table}, {6, 4}), 3).has_value());
    const DraftId whole = angles.draft.list({DType::f32, {4}}, {{1, 0}, {0.5, 0}, {0.25, 0}, {0.125, 0}});
    CHECK(angles.read(angles.add("mul", {position, whole}, {6, 4}), 3)->frequency == 0.125);
}

TEST_CASE("a choice by numbers is one of both, unless rounding decides it") {
    Angles angles;
    const DraftId position = angles.column(angles.draft.cast(angles.lengths, DType::f32));
    const DraftId k = angles.draft.cast(angles.pairs, DType::f32);
    const auto chosen = [&](const std::string& op, DraftId of, double bound, i64 pair) {
        const DraftId truth = angles.draft.pointwise(op, {of, angles.number(bound)}, {DType::boolean, {4}});
        const DraftId both =
            angles.add("select", {truth, angles.add("add", {k, angles.number(1)}, {4}), angles.number(9)}, {4});
        const std::optional<Angle> found = angles.read(angles.add("mul", {position, both}, {6, 4}), pair);
        return found ? found->frequency : 0;
    };
    const DraftId tenths = angles.add("mul", {k, angles.number(0.1f)}, {4});
    CHECK(chosen("lt", tenths, 0.3f, 2) == 3);
    CHECK(chosen("gt", tenths, 0.3f, 2) == 9);
    CHECK(chosen("lt", tenths, 0.3f, 3) == 0);
    CHECK(chosen("ge", k, 3, 3) == 4);
    CHECK(chosen("ne", k, 3, 3) == 9);
}
