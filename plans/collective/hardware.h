// A hardware profile: what the price of a plan is computed from. Files: planner/hardware/<name>.yaml, each number with
// its source.
#pragma once

#include "plans/sharding/mesh.h"

#include <map>

namespace shard {

// How the devices along a mesh axis are connected. bandwidth is one way, bytes/s per device and direction.
struct Link {
    enum class Topology { ring, torus, switched, tree, uniform };
    std::string name;
    Topology topology = Topology::uniform;
    double bandwidth = 1;
    double latency = 0; // seconds per hop
    bool wrap = false;  // ring, torus: the ends are connected, both directions used
    i64 wrap_from = 0;  // an axis wraps only if it has at least this size (TPU v5e: 16); 0 = by `wrap` alone
    bool operator==(const Link&) const = default;
};

struct Hardware {
    std::string name;
    std::string doc;
    std::map<std::string, double> flops; // by dtype name, FLOP/s at peak
    double flop_efficiency = 1;
    double memory_bytes = 0;
    double memory_bandwidth = 0; // bytes/s
    double memory_efficiency = 1;
    double kernel_floor = 0; // seconds
    std::vector<Link> links; // the first is the default
    std::vector<std::string> sources;
    bool operator==(const Hardware&) const = default;
};

std::string_view name(Link::Topology topology); // "ring", ..., as profiles write it
std::optional<Link::Topology> parse_topology(std::string_view text);
const Link& link_of(const Hardware& hardware, const MeshAxis& axis); // internal error if the name was not checked

} // namespace shard
