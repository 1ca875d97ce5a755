// What a report says of collectives that a body asks for without need.
#include "tests/manual/region.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>

namespace shard {

namespace {

// The remedies of all collectives of a region over x (4, 4), separated by bars.
std::string remedies(const std::string& in, const std::string& out, const std::string& body) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", region_model(in, out, body));
    request.layout_file = sources.add("layout.yaml", "mesh: {i: 2, j: 2}\n");
    const Compilation compilation = compile(sources, request);
    INFO(text_of(sources, compilation.diagnostics));
    REQUIRE(compilation.plan.has_value());
    std::string text;
    for (const CollectiveReport& collective : compilation.plan->report.collectives) {
        CHECK(collective.cause.find("written by hand") != std::string::npos);
        text += (text.empty() ? "" : " | ") + collective.remedy;
    }
    return text;
}

const std::string next = "\n          ";

} // namespace

TEST_CASE("a collective of what is the same on all devices is not needed") {
    CHECK(remedies("{x: ~}", "{y: ~}", "- y: {psum: x, over: i}") ==
          "x is the same on all devices along i: {mul: [x, 2]} needs no collective");
    CHECK(remedies("{x: ~}", "{y: ~}", "- y: {pmax: x, over: i}") ==
          "x is the same on all devices along i: pmax of it is x");
    CHECK(remedies("{x: ~}", "{y: [i, ~]}", "- y: {ppermute: x, over: i, shift: 1}") ==
          "x is the same on all devices along i: passing it on changes nothing");
}

TEST_CASE("two reductions in a row are one") {
    CHECK(remedies("{x: [i, j]}", "{y: ~}", "- a: {psum: x, over: i}" + next + "- y: {psum: a, over: j}") ==
          "one psum over [i, j] does what this and the one at line 10 do");
}

TEST_CASE("what is gathered or summed to be cut again has a cheaper form") {
    CHECK(remedies("{x: [i, ~]}", "{y: [i, ~]}",
                   "- a: {psum: x, over: i}" + next + "- y: {own_block: a, over: i, dim: 0}") ==
          "only the own block along dim 0 is read: {psum_scatter: x, over: i, dim: 0, tiled: true} sends half of it");
    CHECK(
        remedies("{x: [i, ~]}", "{y: [~, i]}",
                 "- a: {all_gather: x, over: i, dim: 0, tiled: true}" + next +
                     "- y: {own_block: a, over: i, dim: 1}") ==
        "only the own block along dim 1 is read: {all_to_all: x, over: i, split: 1, concat: 0, tiled: true} sends 1/2 "
        "of it");
    CHECK(remedies("{x: [i, ~]}", "{y: [i, ~]}",
                   "- a: {all_gather: x, over: i, dim: 0, tiled: true}" + next +
                       "- y: {own_block: a, over: i, dim: 0}") ==
          "each device reads its own block only, which it had before: it is not needed");
}

TEST_CASE("a collective that is needed has no remedy") {
    CHECK(remedies("{x: [i, ~]}", "{y: ~}", "- y: {psum: x, over: i}").empty());
    CHECK(remedies("{x: [i, ~]}", "{y: ~}", "- y: {all_gather: x, over: i, dim: 0, tiled: true}").empty());
}

} // namespace shard
