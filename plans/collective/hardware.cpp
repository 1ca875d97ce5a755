#include "plans/collective/hardware.h"

#include <array>

namespace shard {

namespace {

constexpr std::array<std::string_view, 5> topology_names = {"ring", "torus", "switched", "tree", "uniform"};

} // namespace

std::string_view name(Link::Topology topology) { return topology_names[static_cast<size_t>(topology)]; }

std::optional<Link::Topology> parse_topology(std::string_view text) {
    for (size_t i = 0; i < topology_names.size(); ++i)
        if (topology_names[i] == text) return static_cast<Link::Topology>(i);
    return std::nullopt;
}

const Link& link_of(const Hardware& hardware, const MeshAxis& axis) {
    internal_check(!hardware.links.empty(), "a hardware profile without links");
    if (axis.link.empty()) return hardware.links.front();
    for (const Link& link : hardware.links)
        if (link.name == axis.link) return link;
    internal_error("mesh axis '" + axis.name + "' names a link that the hardware profile lacks");
}

} // namespace shard
