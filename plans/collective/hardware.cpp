#include "plans/collective/hardware.h"

#include <algorithm>

#include <array>
#include <cmath>

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

size_t link_of(const Hardware& hardware, const MeshAxis& axis) {
    internal_check(!hardware.links.empty(), "a hardware profile without links");
    if (axis.link.empty()) return 0;
    for (size_t i = 0; i < hardware.links.size(); ++i)
        if (hardware.links[i].name == axis.link) return i;
    internal_error("mesh axis '" + axis.name + "' names a link that the hardware profile lacks");
}

double share_at(const std::vector<SizeShare>& curve, double size) {
    if (curve.empty()) return 1;
    if (size <= curve.front().size) return curve.front().share;
    for (size_t i = 1; i < curve.size(); ++i) {
        const SizeShare &below = curve[i - 1], &above = curve[i];
        if (size > above.size) continue;
        const double power = std::log(above.share / below.share) / std::log(above.size / below.size);
        return below.share * std::pow(size / below.size, power);
    }
    return curve.back().share;
}

Hardware for_working_set(Hardware hardware, double bytes) {
    if (bytes > hardware.cached.bytes) return hardware;
    hardware.memory_bandwidth = std::max(hardware.memory_bandwidth, hardware.cached.bandwidth);
    hardware.product_bandwidth = std::max(hardware.product_bandwidth, hardware.cached.product_bandwidth);
    return hardware;
}

double bandwidth(const Link& link, double size) { return link.bandwidth * share_at(link.efficiency, size); }

} // namespace shard
