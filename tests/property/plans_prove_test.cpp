// Random models, meshes and layouts: every plan equals the one-device plan and the interpreter, and keeps its promises.
#include "tests/support/property.h"
#include "tests/support/prove.h"
#include "tests/support/random_case.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace shard;

namespace {

void check_cases(const std::string& name, const RandomCaseOptions& options, bool small_integers,
                 const ProofOptions& forced = {}, const std::string& layout_too = "") {
    const bool held = holds(name, [&] {
        std::vector<std::uint32_t> tape =
            *rc::gen::container<std::vector<std::uint32_t>>(90, rc::gen::inRange<std::uint32_t>(0, 1000));
        RandomCase made = random_case(tape, options);
        made.layout += layout_too;
        ProofOptions proof = forced;
        proof.small_integers = small_integers;
        proof.seed = tape.front();
        proof.workers = made.workers;
        std::vector<std::string> problems;
        try {
            problems = prove(made.model, made.layout, proof);
        } catch (const std::exception& error) {
            problems = {error.what()};
        }
        if (!problems.empty()) RC_FAIL(fmt::format("{}\n{}{}", fmt::join(problems, "\n"), made.model, made.layout));
    });
    CHECK(held);
}

} // namespace

TEST_CASE("integer plans are exact") { check_cases("small integers", {.integers_only = true}, true); }

TEST_CASE("floating-point plans agree") { check_cases("floating point", {}, false); }

TEST_CASE("integer plans of dims that axes do not divide are exact") {
    check_cases("uneven small integers", {.integers_only = true, .uneven = true}, true);
}

TEST_CASE("floating-point plans of dims that axes do not divide agree") {
    check_cases("uneven floating point", {.uneven = true}, false);
}

TEST_CASE("integer plans are exact as XLA would partition") {
    check_cases("as xla", {.integers_only = true}, true, {}, "partitioner: xla\n");
}

TEST_CASE("floating-point plans agree as XLA would partition") {
    check_cases("as xla, floating point", {}, false, {}, "partitioner: xla\n");
}

TEST_CASE("integer plans are exact with whatever can be split behind sums, faster or not") {
    int spread = 0;
    check_cases("spread", {.integers_only = true}, true, {.spread = &spread});
    CHECK(spread > 0); // of 1500 some 20
}

TEST_CASE("integer plans are exact with all products as their weights that may be, faster or not") {
    int as_weights = 0;
    check_cases("as weights", {.integers_only = true}, true, {.as_weights = &as_weights});
    CHECK(as_weights > 0);
}
