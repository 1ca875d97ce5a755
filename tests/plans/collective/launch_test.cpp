#include "plans/collective/launch.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

// 1 s a hop, 100 bytes/s: of 4 devices an all_reduce of n bytes takes 4 + 0.015 n seconds, whose halves are even at 266.
Hardware slow_to_begin() {
    Hardware hardware;
    hardware.links = {{"link", Link::Topology::switched, 100, 1, false, 0}};
    hardware.latency_adds = true;
    return hardware;
}

const Mesh mesh{{{"x", 4, ""}, {"y", 4, ""}}, {}};

Collective over(int axis, std::string_view kind = "all_reduce", ReduceOp reduce = ReduceOp::sum) {
    Collective collective;
    collective.def = find_collective(kind);
    collective.axes = {mesh.whole(axis)};
    collective.reduce = reduce;
    if (kind == "all_gather") collective.moves = {{0, -1, collective.axes}};
    return collective;
}

TensorType numbers(i64 n, DType dtype = DType::f32) { return {dtype, {n}, {}}; }

} // namespace

TEST_CASE("launch: small collectives that are alike take as long as one of all bytes") {
    const Hardware hardware = slow_to_begin();
    const Collective sum = over(0);
    const double none = sum.def->seconds(sum, mesh, hardware, 0);
    REQUIRE(none > 0);
    Launch launch(mesh, hardware);
    CHECK_FALSE(launch.add(sum, numbers(1)));
    CHECK(launch.seconds() == sum.def->seconds(sum, mesh, hardware, 4));
    CHECK(launch.add(sum, numbers(2)));
    CHECK(launch.seconds() == sum.def->seconds(sum, mesh, hardware, 12));
    launch.end();
    CHECK_FALSE(launch.add(sum, numbers(1)));
    CHECK(launch.seconds() == sum.def->seconds(sum, mesh, hardware, 4));
}

TEST_CASE("launch: others are none of it") {
    const Hardware hardware = slow_to_begin();
    const Collective sum = over(0);
    const auto joins = [&](const Collective& other, const TensorType& type) {
        Launch launch(mesh, hardware);
        launch.add(sum, numbers(1));
        return launch.add(other, type);
    };
    CHECK(joins(sum, numbers(1)));
    CHECK_FALSE(joins(over(1), numbers(1)));
    CHECK_FALSE(joins(over(0, "all_reduce", ReduceOp::max), numbers(1)));
    CHECK_FALSE(joins(over(0, "all_gather"), numbers(1)));
    CHECK_FALSE(joins(sum, numbers(1, DType::bf16)));
    Launch gathers(mesh, hardware);
    gathers.add(over(0, "all_gather"), numbers(1));
    CHECK(gathers.add(over(0, "all_gather"), numbers(1)));
    for (const std::string_view kind : {"all_to_all", "collective_permute", "broadcast"}) {
        Collective moving = over(0, kind);
        moving.moves = {{0, 0, moving.axes}};
        moving.pairs = {{0, 1}};
        Launch moves(mesh, hardware);
        moves.add(moving, numbers(4));
        CHECK_FALSE(moves.add(moving, numbers(4)));
    }
}

TEST_CASE("launch: as many as take no longer than twice what none take, and none where nothing is lost by many") {
    Hardware hardware = slow_to_begin();
    const Collective sum = over(0);
    const double none = sum.def->seconds(sum, mesh, hardware, 0);
    Launch launch(mesh, hardware);
    i64 bytes = 0;
    while (launch.add(sum, numbers(10)) || bytes == 0) bytes += 40;
    CHECK(sum.def->seconds(sum, mesh, hardware, bytes) <= 2 * none);
    CHECK(sum.def->seconds(sum, mesh, hardware, bytes + 40) > 2 * none);
    CHECK(bytes > 40);
    CHECK(launch.seconds() == sum.def->seconds(sum, mesh, hardware, 40));

    hardware.links[0].latency = 0;
    Launch free(mesh, hardware);
    free.add(sum, numbers(1));
    CHECK_FALSE(free.add(sum, numbers(1)));
}
