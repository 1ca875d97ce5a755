// Comparisons of what truths were made into.
#include "importer/model/simplified.h"
#include "importer/model/truths.h"

#include <doctest/doctest.h>

#include <limits>

using namespace shard;

namespace {

const DraftType truth{DType::boolean, {8}}, whole{DType::i32, {8}}, real{DType::f32, {8}};

struct Truths {
    Draft draft;
    DraftId t = draft.input("t", truth, false);

    DraftId number(DType dtype, double n) {
        return draft.number({dtype, {}}, {n, is_floating(dtype) ? 0 : static_cast<i64>(n)});
    }
    // "t", "not t", "true", "false" or the op that it stays.
    std::string of(const char* op, DraftId a, DraftId b) {
        const DraftId made = simplified(draft, op, {a, b}, truth);
        if (made == t) return "t";
        if (draft[made].number) return draft[made].number->integer != 0 ? "true" : "false";
        const DraftEntry* const entry = draft.entry_of(made);
        return entry->op == "not" && entry->operands[0] == t ? "not t" : entry->op;
    }
};

} // namespace

TEST_CASE("a truth that became a number and is compared is the truth again") {
    Truths truths;
    const DraftId as_whole = truths.draft.cast(truths.t, DType::i32), as_real = truths.draft.cast(truths.t, DType::f32);
    const auto n = [&](double number) { return truths.number(DType::i32, number); };
    CHECK(truths.of("eq", as_whole, n(1)) == "t");
    CHECK(truths.of("eq", as_whole, n(0)) == "not t");
    CHECK(truths.of("ne", n(0), as_whole) == "t");
    CHECK(truths.of("lt", as_whole, n(1)) == "not t");
    CHECK(truths.of("lt", n(0), as_whole) == "t");
    CHECK(truths.of("ge", as_whole, n(0)) == "true");
    CHECK(truths.of("eq", as_whole, n(2)) == "false");
    CHECK(truths.of("gt", as_real, truths.number(DType::f32, 0.5)) == "t");
    CHECK(truths.of("eq", truths.draft.input("x", whole, false), n(1)) == "eq");
    CHECK(truths.of("eq", as_whole, truths.draft.input("y", whole, false)) == "eq"); // no number is known
}

TEST_CASE("a mask of numbers that is compared is the mask again") {
    Truths truths;
    const auto f = [&](double number) { return truths.number(DType::f32, number); };
    const auto mask = [&](double if_true, double if_false) {
        return truths.draft.pointwise("select", {truths.t, f(if_true), f(if_false)}, real);
    };
    CHECK(truths.of("ge", mask(0, -2e38), f(-1e38)) == "t");
    CHECK(truths.of("lt", mask(0, -2e38), f(-1e38)) == "not t");
    CHECK(truths.of("ge", mask(0, -1), f(-1)) == "true");
    CHECK(truths.of("gt", mask(0, -1), f(0)) == "false");
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(truths.of("eq", mask(nan, 1), f(1)) == "not t"); // as no number is equal to none
    CHECK(truths.of("ne", mask(nan, nan), f(1)) == "true");
    const DraftId x = truths.draft.input("x", real, false);
    CHECK(truths.of("ge", truths.draft.pointwise("select", {truths.t, x, f(1)}, real), f(0)) == "ge");
}

TEST_CASE("what a loop hands on is no truth, since it is another value in its other trips") {
    Truths truths;
    const DraftId carried = truths.draft.cast(truths.t, DType::i32);
    truths.draft.mark_carried(carried);
    CHECK(truths.of("eq", carried, truths.number(DType::i32, 1)) == "eq");
}

TEST_CASE("a choice between two alike is none") {
    Truths truths;
    const DraftId x = truths.draft.input("x", real, false), y = truths.draft.input("y", real, false);
    CHECK(simplified(truths.draft, "select", {truths.t, x, x}, real) == x);
    CHECK(simplified(truths.draft, "select", {truths.t, x, y}, real) != x);
}
