#include "planner/text/arithmetic.h"

#include <doctest/doctest.h>

#include <limits>

using namespace shard;

namespace {

std::optional<i64> embed_is_12(std::string_view name) {
    return name == "embed" ? std::optional<i64>(12) : name == "embed-4" ? std::optional<i64>(7) : std::nullopt;
}

i64 value(std::string_view text) {
    ArithmeticProblem problem;
    const std::optional<i64> found = evaluate_arithmetic(text, embed_is_12, problem);
    CHECK_MESSAGE(found.has_value(), problem.message);
    return found.value_or(0);
}

// Its code, and the part that it is about.
std::string problem_of(std::string_view text) {
    ArithmeticProblem problem;
    CHECK(!evaluate_arithmetic(text, embed_is_12, problem));
    return problem.code + " " + std::string(text.substr(problem.at, problem.length));
}

} // namespace

TEST_CASE("arithmetic binds as in school, from the left") {
    CHECK(value("4 * embed") == 48);
    CHECK(value("2 + 3 * 4 - 5") == 9);
    CHECK(value("100 / 5 / 2") == 10);
    CHECK(value("10 - 4 - 3") == 3);
    CHECK(value("(embed - 4) / 2") == 4);
    CHECK(value("embed-4") == 7); // there is such a name
    CHECK(value("embed-3") == 9);
}

TEST_CASE("arithmetic has signs") {
    CHECK(value("-embed") == -12);
    CHECK(value("2 * -3") == -6);
    CHECK(value("1 - -1") == 2);
    CHECK(value("-(embed - 13)") == 1);
}

TEST_CASE("ceil rounds a product of exact fractions up") {
    CHECK(value("ceil(7 / 2)") == 4);
    CHECK(value("ceil(5 * embed / 4 / 3) + 1") == 6);
    CHECK(value("ceil(5 / 4 * 8)") == 10);
    CHECK(value("ceil(-7 / 2)") == -3);
    CHECK(value("ceil(7 / -2)") == -3);
    CHECK(value("ceil(7 / -1)") == -7);
    CHECK(value("2 * ceil(ceil(7 / 2) / 3)") == 4);
    CHECK(value("ceil((embed + 1) / 2)") == 7);
    CHECK(problem_of("ceil(7 / 0)") == "E0207 /");
    CHECK(problem_of("ceil(7 + 1)") == "E0202 (");
    CHECK(problem_of("ceil(7 / 2") == "E0202 (");
    CHECK(problem_of("ceil((7 / 2))") == "E0207 /");
    CHECK(problem_of("ceil(9223372036854775807 * 2)") == "E0204 *");
    CHECK(problem_of("ceil((-9223372036854775807 - 1) / -1)") == "E0204 (");
    CHECK(problem_of("ceil + 1") == "E0205 ceil");
    CHECK(problem_of("ceil()") == "E0202 )");
}

TEST_CASE("arithmetic is exact, to the ends of 64 bits") {
    constexpr i64 least = std::numeric_limits<i64>::min();
    CHECK(value("-9223372036854775807 - 1") == least);
    CHECK(problem_of("(-9223372036854775807 - 1) / -1") == "E0204 /");
    CHECK(problem_of("-(-9223372036854775807 - 1)") == "E0204 -");
    CHECK(problem_of("9223372036854775807 + 1") == "E0204 +");
    CHECK(problem_of("9223372036854775807 * 2") == "E0204 *");
    CHECK(problem_of("embed / 5") == "E0207 /");
    CHECK(problem_of("-7 / 2") == "E0207 /");
    CHECK(problem_of("embed / (embed - 12)") == "E0207 /");
}

TEST_CASE("arithmetic that is none names its part") {
    CHECK(problem_of("2 * depth") == "E0205 depth");
    CHECK(problem_of("2 ^ 3") == "E0202 ^");
    CHECK(problem_of("(2 + 3") == "E0202 (");
    CHECK(problem_of("0.5 * embed") == "E0202 .");
    CHECK(problem_of("007 * 2") == "E0115 007");
    CHECK(problem_of(std::string(100, '-') + "1") == "E0202 -");
}
