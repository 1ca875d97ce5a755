#include "plans/collective/link_levels.h"

#include "plans/sharding/axis_lists.h"

#include <fmt/format.h>

#include <doctest/doctest.h>

using namespace shard;

namespace {

Hardware nodes_of(i64 devices) {
    Hardware hardware;
    hardware.links.resize(2);
    hardware.links[0].name = "node";
    hardware.links[0].topology = Link::Topology::torus;
    hardware.links[0].wrap = true;
    hardware.links[0].wrap_from = 4;
    hardware.links[0].devices = devices;
    hardware.links[1].name = "network";
    hardware.links[1].topology = Link::Topology::switched;
    return hardware;
}

// "node 8 inside 1; network 4 inside 8"
std::string levels(const Mesh& mesh, const Hardware& hardware, const std::vector<std::string>& axes) {
    std::vector<AxisRef> refs;
    for (const std::string& axis : axes) refs.push_back(*parse_axis_ref(mesh, axis));
    std::string words;
    for (const LinkLevel& level : levels_of(mesh, hardware, refs)) {
        words += fmt::format("{}{} {} inside {}", words.empty() ? "" : "; ", level.link->name, level.n, level.inside);
        if (level.link->topology != Link::Topology::torus) continue;
        for (const LinkLine& line : level.lines)
            words += fmt::format(", line {} stride {}{}", line.n, line.stride, line.wrap ? " wrapped" : "");
    }
    return words;
}

} // namespace

TEST_CASE("a group beyond a node goes over the network, whatever its axes are called") {
    const Hardware hardware = nodes_of(8);
    CHECK(levels(Mesh{{{"gpu", 8, ""}}, {}}, hardware, {"gpu"}) == "node 8 inside 1, line 8 stride 1 wrapped");
    CHECK(levels(Mesh{{{"gpu", 64, ""}}, {}}, hardware, {"gpu"}) ==
          "node 8 inside 1, line 8 stride 1 wrapped; network 8 inside 8");
    const Mesh mesh{{{"data", 4, ""}, {"fsdp", 4, ""}, {"model", 4, ""}}, {}}; // a node: 2 of fsdp x 4 of model
    CHECK(levels(mesh, hardware, {"model"}) == "node 4 inside 1, line 4 stride 1 wrapped");
    CHECK(levels(mesh, hardware, {"fsdp"}) == "node 2 inside 1, line 2 stride 1; network 2 inside 2");
    CHECK(levels(mesh, hardware, {"data"}) == "network 4 inside 1");
    CHECK(levels(mesh, hardware, {"data", "model"}) == "node 4 inside 1, line 4 stride 1 wrapped; network 4 inside 4");
    CHECK(levels(mesh, hardware, {"data", "fsdp", "model"}) ==
          "node 8 inside 1, line 2 stride 1, line 4 stride 1 wrapped; network 8 inside 8");
}

TEST_CASE("parts of an axis cross what they reach") {
    const Mesh mesh{{{"gpu", 32, ""}}, {}};
    const Hardware hardware = nodes_of(8);
    CHECK(levels(mesh, hardware, {"gpu:(1)4"}) == "network 4 inside 1");
    CHECK(levels(mesh, hardware, {"gpu:(4)8"}) == "node 8 inside 1, line 8 stride 1 wrapped");
    CHECK(levels(Mesh{{{"gpu", 8, ""}}, {}}, hardware, {"gpu:(1)4"}) == "node 4 inside 1, line 4 stride 2"); // no wrap
    CHECK(levels(mesh, hardware, {"gpu:(2)4"}) == "node 2 inside 1, line 2 stride 4; network 2 inside 2");
    CHECK(levels(mesh, hardware, {"gpu:(1)2", "gpu:(2)16"}) == levels(mesh, hardware, {"gpu"}));
}

TEST_CASE("an axis that names its link crosses that alone, and the others are numbered without it") {
    const Hardware hardware = nodes_of(8);
    const Mesh mesh{{{"x", 2, ""}, {"slice", 4, "network"}, {"y", 4, ""}}, {}};
    CHECK(levels(mesh, hardware, {"slice"}) == "network 4 inside 1");
    CHECK(levels(mesh, hardware, {"x", "y"}) == "node 8 inside 1, line 2 stride 1, line 4 stride 1 wrapped");
    CHECK(levels(mesh, hardware, {"x", "slice", "y"}) ==
          "node 8 inside 1, line 2 stride 1, line 4 stride 1 wrapped; network 4 inside 8");
    CHECK(levels(Mesh{{{"x", 64, "node"}}, {}}, hardware, {"x"}) == "node 64 inside 1, line 64 stride 1 wrapped");
}

TEST_CASE("a node that an axis fills unevenly counts full") {
    CHECK(levels(Mesh{{{"x", 12, ""}}, {}}, nodes_of(8), {"x"}) ==
          "node 8 inside 1, line 8 stride 1 wrapped; network 2 inside 8");
    CHECK(levels(Mesh{{{"x", 2, ""}, {"y", 6, ""}}, {}}, nodes_of(8), {"x"}) == "network 2 inside 1");
    CHECK(levels(Mesh{{{"x", 4, ""}}, {}}, nodes_of(0), {"x"}) == "node 4 inside 1, line 4 stride 1 wrapped");
    CHECK(levels(Mesh{{{"x", 1, ""}}, {}}, nodes_of(8), {"x"}).empty());
}
