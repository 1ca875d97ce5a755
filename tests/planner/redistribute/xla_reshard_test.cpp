// Ways as XLA's partitioner takes them. Kinds and bytes are those that XLA sent for the same pairs: the cases of
// ops/identity and ops/transpose in tests/oracle/answers.json.
#include "planner/redistribute/xla_detour.h"
#include "planner/redistribute/xla_reshard.h"
#include "tests/support/blocks.h"
#include "tests/support/carry_out.h"

#include <doctest/doctest.h>

#include <map>

using namespace shard;

namespace {

Hardware uniform() {
    Hardware hardware;
    hardware.links = {Link{"uniform", Link::Topology::uniform, 1, 0, false, 0}};
    return hardware;
}

const Mesh xy{{{"x", 4, ""}, {"y", 2, ""}}, {}}, ab{{{"a", 4, ""}, {"b", 2, ""}}, {}},
    abc{{{"a", 2, ""}, {"b", 2, ""}, {"c", 2, ""}}, {}};

// Checks that the way arrives with the right blocks, and gives what is sent by kind.
std::string sent(const Mesh& mesh, const Shape& shape, std::string_view from, std::string_view to) {
    const Sharding start = sharding_of(mesh, from), end = sharding_of(mesh, to);
    const Redistribution way = reshard_as_xla(mesh, uniform(), f32_type(shape), start, end);
    const Carried carried = carry_out(mesh, shape, start, way);
    CHECK(text(mesh, carried.sharding) == text(mesh, end));
    CHECK(carried.buffers == blocks_of(mesh, shape, end));
    CHECK(carried.wire_bytes == way.wire_bytes_total);
    std::string result;
    Sharding at = start;
    for (const RedistributionStep& step : way.steps) {
        if (step.collective) {
            const i64 bytes = f32_type(local_shape(shape, at)).bytes();
            result += result.empty() ? "" : ", ";
            result += std::string(step.collective->def->name) + " " +
                      std::to_string(step.collective->def->wire_bytes_total(*step.collective, mesh, bytes));
        }
        at = sharding_after(step, at);
    }
    return way.gathers_all ? "all: " + result : result;
}

} // namespace

TEST_CASE("XLA reshards as its answers say") {
    const Shape cube = {16, 16, 16};
    CHECK(sent(xy, cube, "[y | - | x]", "[- | x | y]") == "all_to_all 12288, all_to_all 8192");
    CHECK(sent(xy, cube, "[x,y | - | -]", "[- | x,y | -]") == "all_to_all 14336");
    CHECK(sent(xy, cube, "[x | y | -]", "[y | x | -]") == "all_to_all 8192, collective_permute 8192");
    CHECK(sent(ab, cube, "[b | - | a]", "[- | a,b | -]") == "all: all_gather 114688");
    CHECK(sent(abc, cube, "[a | b,c | -]", "[c | - | a,b]") == "all_to_all 12288, collective_permute 12288");
    CHECK(sent(abc, cube, "[- | a | b]", "[b,c | a | -]") == "all_to_all 8192, collective_permute 8192");
}

TEST_CASE("XLA permutes before it gathers and after it slices where devices are in another order") {
    CHECK(sent(xy, {64}, "[x]", "[y]") == "collective_permute 384, all_reduce 1024"); // ops/add_bias
    CHECK(sent(xy, {64}, "[y]", "[x]") == "collective_permute 384");                  // ops/sum, behind its all_reduce
    CHECK(sent(xy, {64}, "[x,y]", "[x]") == "all_reduce 512");                        // of 64 B, in pairs
    CHECK(sent(xy, {64}, "[x]", "[x,y]").empty());
}

TEST_CASE("XLA permutes devices of which a dim has a part") {
    const Mesh mesh{{{"x", 6, ""}, {"y", 4, ""}}, {}};
    CHECK(sent(mesh, {12, 24, 24}, "[- | x:(1)2 | -]", "[- | y,x:(2)3 | -]") == "collective_permute 50688");
}

TEST_CASE("a constraint in between keeps XLA from gathering everything") {
    const TensorType type = f32_type({16, 16, 16});
    const Sharding from = sharding_of(ab, "[b | - | a]"), to = sharding_of(ab, "[- | a,b | -]");
    const std::optional<XlaDetour> detour = xla_detour(ab, uniform(), type, from, to);
    REQUIRE(detour.has_value());
    CHECK(text(ab, detour->through) == "[b | a | -]"); // 3/4 of a block of 2,048 B, then half of one, from each of 8
    CHECK(detour->wire_bytes_total == 8 * 2048 * 3 / 4 + 8 * 2048 / 2);
    CHECK_FALSE(xla_detour(xy, uniform(), type, sharding_of(xy, "[y | - | x]"), sharding_of(xy, "[- | x | y]")));
}
