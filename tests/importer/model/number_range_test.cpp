// Ranges of whole numbers, and what they leave out of a program.
#include "importer/model/number_range.h"
#include "importer/model/simplified.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

const DraftType whole{DType::i32, {8}};

std::string text(const std::optional<NumberRange>& range) {
    return range ? std::to_string(range->least) + " " + std::to_string(range->most) : "none";
}

} // namespace

TEST_CASE("a range is that of the ops, and of the type where numbers may come round") {
    Draft draft;
    const DraftId x = draft.input("x", whole, false), count = draft.literal("iota", "[8]", {}, {}, whole);
    draft.mark_count(count);
    const auto number = [&](i64 n) { return draft.number({DType::i32, {}}, {0, n}); };
    const auto made = [&](const char* op, DraftId a, DraftId b) { return draft.pointwise(op, {a, b}, whole); };
    CHECK(text(range_of(draft, x)) == "-2147483648 2147483647");
    CHECK(text(range_of(draft, count)) == "0 7");
    CHECK(text(range_of(draft, made("add", count, number(3)))) == "3 10");
    CHECK(text(range_of(draft, made("add", x, number(3)))) == "-2147483648 2147483647");
    CHECK(text(range_of(draft, made("sub", count, count))) == "-7 7");
    CHECK(text(range_of(draft, made("mul", count, count))) == "0 49");
    CHECK(text(range_of(draft, made("max", x, number(0)))) == "0 2147483647");
    CHECK(text(range_of(draft, made("min", made("max", x, number(0)), number(5)))) == "0 5");
    CHECK(text(range_of(draft, draft.broadcast(count, {4, 8}, {1}))) == "0 7");
    CHECK(text(range_of(
              draft, draft.add("argsort", {draft.input("f", {DType::f32, {8}}, false)}, ", dim: 0", whole))) == "0 7");
    const DraftId bytes = draft.input("b", {DType::u8, {8}}, false);
    CHECK(text(range_of(draft, draft.cast(bytes, DType::i32))) == "0 255");
    CHECK(text(range_of(draft, draft.cast(made("sub", count, number(1)), DType::u8))) == "0 255");
    CHECK(text(range_of(draft, draft.input("f", {DType::f32, {8}}, false))) == "none");
    CHECK(text(range_of(draft, draft.input("u", {DType::u64, {8}}, false))) == "none");
    // What a loop hands on is made otherwise in its other trips.
    draft.mark_carried(count);
    CHECK(text(range_of(draft, count)) == "-2147483648 2147483647");
}

TEST_CASE("comparisons that a range decides, and bounds that it keeps, are no ops") {
    Draft draft;
    const DraftId x = draft.input("x", whole, false), count = draft.literal("iota", "[8]", {}, {}, whole);
    draft.mark_count(count);
    const auto number = [&](i64 n) { return draft.number({DType::i32, {}}, {0, n}); };
    CHECK(known_comparison(draft, "lt", count, number(0)) == false);
    CHECK(known_comparison(draft, "lt", count, number(8)) == true);
    CHECK(known_comparison(draft, "ge", number(7), count) == true);
    CHECK(known_comparison(draft, "eq", count, number(8)) == false);
    CHECK(known_comparison(draft, "ne", count, number(8)) == true);
    CHECK_FALSE(known_comparison(draft, "lt", count, number(7)).has_value());
    CHECK_FALSE(known_comparison(draft, "eq", count, number(7)).has_value());
    CHECK_FALSE(known_comparison(draft, "lt", x, number(0)).has_value());
    CHECK_FALSE(known_comparison(draft, "add", count, number(9)).has_value());
    CHECK(simplified(draft, "max", {count, number(0)}, whole) == count);
    CHECK(simplified(draft, "min", {number(7), count}, whole) == count);
    CHECK(draft[simplified(draft, "min", {count, number(-1)}, whole)].number->integer == -1);
    CHECK(simplified(draft, "min", {count, number(6)}, whole) != count);
    CHECK(simplified(draft, "max", {x, number(0)}, whole) != x);
}

TEST_CASE("one coordinate of many is what was put together there") {
    Draft draft;
    const DraftId a = draft.input("a", {DType::i32, {4}}, false), b = draft.input("b", {DType::i32, {4, 2}}, false);
    const DraftId column = draft.reshape(a, {4, 1});
    const DraftId all = draft.add("concatenate", {column, b}, ", dim: 1", {DType::i32, {4, 3}});
    CHECK(place_along(draft, all, 1, 0) == a);
    const DraftId second = place_along(draft, all, 1, 1);
    REQUIRE(draft.entry_of(second) != nullptr);
    CHECK(draft.entry_of(second)->op == "reshape");
    CHECK(draft.entry_of(draft.entry_of(second)->operands[0])->arguments == ", dim: [1], start: [0], limit: [1]");
    // Bounds are taken one by one: of a single place there is nothing to choose.
    const DraftId bounds = draft.list({DType::i32, {3}}, {{0, 15}, {0, 0}, {0, 0}});
    const DraftId held = draft.pointwise(
        "min", {draft.pointwise("max", {all, draft.number({DType::i32, {}}, {})}, draft.type(all)), bounds},
        draft.type(all));
    CHECK(draft[place_along(draft, held, 1, 2)].number->integer == 0);
    CHECK(draft.entry_of(place_along(draft, held, 1, 0))->op == "min");
    const DraftId repeated = draft.broadcast(a, {4, 3}, {0});
    CHECK(place_along(draft, repeated, 1, 2) == a);
}
