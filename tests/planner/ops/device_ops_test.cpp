// Every op of manual regions: what its devices get, on numbers worked out by hand, and proved against one device and
// the interpreter, which shares no code with the planner.
#include "tests/support/region.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

using Values = std::vector<double>;

} // namespace

// x is 0 to 15 in rows of 4 over 4 devices.
TEST_CASE("psum adds up the devices' rows") {
    CHECK(region_result("{x: [i, ~]}", "{y: [~, ~]}", "- y: {psum: x, over: i}") == Values{24, 28, 32, 36});
}

TEST_CASE("pmean, pmax and pmin of the devices' rows") {
    CHECK(region_result("{x: [i, ~]}", "{y: [~, ~]}", "- y: {pmean: x, over: i}") == Values{6, 7, 8, 9});
    CHECK(region_result("{x: [i, ~]}", "{y: [~, ~]}", "- y: {pmax: x, over: i}") == Values{12, 13, 14, 15});
    CHECK(region_result("{x: [i, ~]}", "{y: [~, ~]}", "- y: {pmin: x, over: i}") == Values{0, 1, 2, 3});
}

TEST_CASE("psum of a bool counts, and psum of 1 is the number of devices") {
    CHECK(region_result("{x: [i, ~]}", "{y: [~, ~]}", "- b: {gt: [x, 5]}\n          - y: {psum: b, over: i}") ==
          Values{2, 2, 3, 3});
    CHECK(region_result("{}", "{y: []}", "- y: {psum: 1, over: i}") == Values{4});
    CHECK(region_result("{}", "{y: []}", "- y: {axis_size: i}") == Values{4});
}

TEST_CASE("all_gather stacks, or, tiled, joins") {
    const Values all = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    CHECK(region_result("{x: [i, ~]}", "{y: [~, ~]}", "- y: {all_gather: x, over: i, dim: 0, tiled: true}") == all);
    CHECK(region_result("{x: [i, ~]}", "{y: [~, ~, ~]}", "- y: {all_gather: x, over: i}") == all);
    // Stacked behind: element [0, c, r] is row r, column c.
    CHECK(region_result("{x: [i, ~]}", "{y: [~, ~, ~]}", "- y: {all_gather: x, over: i, dim: -1}") ==
          Values{0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15});
}

TEST_CASE("psum_scatter leaves each device one index, or, tiled, a block") {
    CHECK(region_result("{x: [i, ~]}", "{y: [i]}", "- y: {psum_scatter: x, over: i, dim: 1}") ==
          Values{24, 28, 32, 36});
    CHECK(region_result("{x: [i, ~]}", "{y: [~, i]}", "- y: {psum_scatter: x, over: i, dim: 1, tiled: true}") ==
          Values{24, 28, 32, 36});
}

TEST_CASE("ppermute passes on, back and forth, and leaves zeros") {
    CHECK(region_result("{x: [i, ~]}", "{y: [i, ~]}", "- y: {ppermute: x, over: i, shift: 1}") ==
          Values{12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    CHECK(region_result("{x: [i, ~]}", "{y: [i, ~]}", "- y: {ppermute: x, over: i, perm: [[3, 0], [0, 2]]}") ==
          Values{12, 13, 14, 15, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0});
}

TEST_CASE("all_to_all moves the split from one dim to another") {
    // Rows over i become columns over i: nothing changes as a whole.
    const Values all = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    CHECK(region_result("{x: [i, ~]}", "{y: [~, i]}",
                        "- y: {all_to_all: x, over: i, split: 1, concat: 0, tiled: true}") == all);
    // Device r gets column r of every row: (1, 4) -> (4, 1), and in place (1, 4) -> (1, 4).
    const Values transposed = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
    CHECK(region_result("{x: [i, ~]}", "{y: [i, ~]}", "- y: {all_to_all: x, over: i, split: 1, concat: 0}") ==
          transposed);
    CHECK(region_result("{x: [i, ~]}", "{y: [i, ~]}", "- y: {all_to_all: x, over: i, split: 1, concat: 1}") ==
          transposed);
    CHECK(region_result("{x: [i, ~]}", "{y: [i, ~]}",
                        "- y: {all_to_all: x, over: i, split: 1, concat: 1, tiled: true}") == transposed);
}

TEST_CASE("own_block is the opposite of all_gather") {
    CHECK(region_result("{x: ~}", "{y: [i, ~]}", "- y: {own_block: x, over: i, dim: 0}") ==
          Values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
}

TEST_CASE("a dim that is dealt out is a multiple of the devices") {
    for (const char* entry : {"{own_block: x, over: i, dim: 0}", "{psum_scatter: x, over: i, dim: 0, tiled: true}",
                              "{all_to_all: x, over: i, split: 0, concat: 1, tiled: true}"}) {
        CAPTURE(entry);
        Sources sources;
        PlanRequest request;
        request.model_file =
            sources.add("model.yaml", region_model("{x: ~}", "{y: [i, ~]}", fmt::format("- y: {}", entry)));
        request.layout_file = sources.add("layout.yaml", "mesh: {i: 3}\n");
        const Compilation compilation = compile(sources, request); // x is 4 x 4
        REQUIRE(compilation.diagnostics.all().size() == 1);
        CHECK(compilation.diagnostics.all()[0].code == "E0273");
        CHECK(compilation.diagnostics.all()[0].message == "dim 0 of x (4, 4) does not divide into 3 parts over i (3)");
    }
}

TEST_CASE("the index along several axes is row-major in the order written") {
    CHECK(region_result("{}", "{y: [[j, i]]}", "- n: {axis_index: [i, j]}\n          - y: {reshape: n, shape: [1]}",
                        "{i: 4, j: 2}") == Values{0, 2, 4, 6, 1, 3, 5, 7});
    CHECK(region_result("{}", "{y: [[i, j]]}", "- n: {axis_index: [j, i]}\n          - y: {reshape: n, shape: [1]}",
                        "{i: 4, j: 2}") == Values{0, 4, 1, 5, 2, 6, 3, 7});
}

TEST_CASE("collectives over several axes, and over one of several") {
    CHECK(region_result("{x: [[i, j], ~]}", "{y: [~, ~]}", "- y: {psum: x, over: [i, j]}", "{i: 2, j: 2}") ==
          Values{24, 28, 32, 36});
    CHECK(region_result("{x: [[i, j], ~]}", "{y: [i, ~]}", "- y: {psum: x, over: j}", "{i: 2, j: 2}") ==
          Values{4, 6, 8, 10, 20, 22, 24, 26});
    CHECK(region_result("{x: [[i, j], ~]}", "{y: [~, ~]}", "- y: {all_gather: x, over: [j, i], dim: 0, tiled: true}",
                        "{i: 2, j: 2}") == Values{0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15});
    CHECK(region_result("{x: [[i, j], ~]}", "{y: [~, [j, i]]}",
                        "- y: {psum_scatter: x, over: [j, i], dim: 1, tiled: true}",
                        "{i: 2, j: 2}") == Values{24, 28, 32, 36});
}

TEST_CASE("axes of one device change nothing") {
    CHECK(region_result("{x: [i, ~]}", "{y: [~, ~]}", "- s: {psum: x, over: [i, k]}\n          - y: {psum: s, over: k}",
                        "{i: 4, k: 1}") == Values{24, 28, 32, 36});
}

TEST_CASE("composites and literals in a body are over local values") {
    CHECK(region_result("{x: [i, ~]}", "{y: [i]}", "- y: {mean: x, dims: 1}") == Values{1.5, 5.5, 9.5, 13.5});
    CHECK(region_result("{x: [i, ~]}", "{y: [i, ~]}",
                        "- h: {mul: [x, 2]}\n          - n: {axis_index: i}\n          - f: {cast: n, dtype: f32}\n"
                        "          - y: {sub: [h, f]}") ==
          Values{0, 2, 4, 6, 7, 9, 11, 13, 14, 16, 18, 20, 21, 23, 25, 27});
}

} // namespace shard
