#include "plans/collective/hardware.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("an axis uses the link it names, or the profile's first") {
    Hardware hardware;
    hardware.links.resize(2);
    hardware.links[0].name = "ici";
    hardware.links[1].name = "dcn";
    CHECK(link_of(hardware, {"data", 2, "dcn"}) == 1);
    CHECK(link_of(hardware, {"data", 2, ""}) == 0);
    CHECK_THROWS_AS(link_of(hardware, {"data", 2, "nvlink"}), InternalError);
}

TEST_CASE("names of topologies") {
    using Topology = Link::Topology;
    for (Topology topology : {Topology::ring, Topology::torus, Topology::switched, Topology::tree, Topology::uniform})
        CHECK(parse_topology(name(topology)) == topology);
    CHECK(!parse_topology("star"));
}
