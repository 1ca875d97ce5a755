#include "plans/collective/message_cost.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

// A 4-wide torus or line of 100 bytes/s, nodes of 4 where there is a network of 10 bytes/s.
Hardware torus(bool wrap, i64 devices = 0) {
    Hardware hardware;
    hardware.links = {Link{"ici", Link::Topology::torus, 100, 1, wrap, 0, devices},
                      Link{"dcn", Link::Topology::switched, 10, 7, false, 0, 0}};
    return hardware;
}

double shift(const Mesh& mesh, const Hardware& hardware, i64 by, double bytes) {
    const AxisRef all[] = {mesh.whole(0)};
    const i64 n = mesh.axes[0].size;
    return message_seconds(
        mesh, hardware, all, [&](i64 position) { return (position + by) % n; }, bytes);
}

} // namespace

TEST_CASE("a message goes the shorter way round, and the fullest link counts") {
    const Mesh mesh{{{"x", 8, ""}}, {}};
    CHECK(shift(mesh, torus(true), 1, 1000) == doctest::Approx(10)); // each link carries one
    CHECK(shift(mesh, torus(true), 7, 1000) == doctest::Approx(10)); // the other way
    CHECK(shift(mesh, torus(true), 2, 1000) == doctest::Approx(20));
    CHECK(shift(mesh, torus(true), 3, 1) == doctest::Approx(3)); // 3 hops of 1 s
    // An open line: 7 neighbours pass one on, the last block goes all the way back, alone in its direction.
    CHECK(shift(mesh, torus(false), 1, 1000) == doctest::Approx(10));
    CHECK(shift(mesh, torus(false), 1, 1) == doctest::Approx(7));
    CHECK(shift(mesh, torus(true), 0, 1000) == 0);
}

TEST_CASE("a message between opposite corners goes out of all ports of its corner") {
    const Mesh mesh{{{"x", 4, ""}, {"y", 4, ""}}, {}};
    const AxisRef both[] = {mesh.whole(0), mesh.whole(1)};
    const auto corner = [](i64 position) -> i64 { return position == 15 ? 0 : -1; };
    CHECK(message_seconds(mesh, torus(false), both, corner, 10000) == doctest::Approx(50));
    CHECK(message_seconds(mesh, torus(false), both, corner, 1) == doctest::Approx(6));
    CHECK(message_seconds(mesh, torus(true), both, corner, 1) == doctest::Approx(2)); // wrapped, they are neighbours
}

TEST_CASE("a message between nodes goes over the network, as slow as it is") {
    const Mesh mesh{{{"x", 8, ""}}, {}};
    CHECK(shift(mesh, torus(false, 4), 1, 1000) == doctest::Approx(100)); // two blocks cross
    CHECK(shift(mesh, torus(false, 4), 1, 1) == doctest::Approx(7));
    const AxisRef inside[] = {AxisRef{0, 2, 4}}; // x:(2)4, a node each: a swap of pairs
    CHECK(message_seconds(
              mesh, torus(false, 4), inside, [](i64 position) { return position ^ 1; }, 1000) == doctest::Approx(10));
}

TEST_CASE("too many devices to look at each: the farthest message stands for all") {
    const Mesh mesh{{{"x", 1 << 16, ""}}, {}};
    CHECK(shift(mesh, torus(true), 1, 1000) == doctest::Approx(32768)); // half way round, 1 s a hop
}
