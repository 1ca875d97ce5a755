#include "plans/collective/collective_cost.h"

#include "plans/collective/link_seconds.h"

#include <algorithm>
#include <cmath>

namespace shard {

namespace {

double hops_to_all(const LinkLevel& level) {
    const Link& link = *level.link;
    if (link.topology == Link::Topology::uniform) return 1;
    if (!is_ring(link)) return std::ceil(std::log2(static_cast<double>(level.n)));
    i64 hops = 0;
    for (const LinkLine& line : level.lines) hops += line.wrap ? (line.n + 1) / 2 : (line.n - 1) * line.stride;
    return static_cast<double>(hops);
}

bool all_wrap(const LinkLevel& level) {
    return std::all_of(level.lines.begin(), level.lines.end(), [](const LinkLine& line) { return line.wrap; });
}

// Of lines of different strides the longest way counts.
double stride(const LinkLevel& level) {
    i64 most = 1;
    for (const LinkLine& line : level.lines) most = std::max(most, line.stride);
    return static_cast<double>(most);
}

// Mesh axes that carry bytes at the same time; parts of one axis share its links.
double parallel_axes(const LinkLevel& level) {
    std::vector<int> axes;
    for (const LinkLine& line : level.lines)
        if (std::find(axes.begin(), axes.end(), line.axis) == axes.end()) axes.push_back(line.axis);
    return static_cast<double>(axes.size());
}

double gather_transfer(const LinkLevel& level, double bytes, double speed) {
    const double n = static_cast<double>(level.n);
    const double sent = (n - 1) / n * bytes / speed;
    if (!is_ring(*level.link)) return sent;
    return (all_wrap(level) ? bytes / (2 * speed) : sent * stride(level)) / parallel_axes(level);
}

double all_to_all_transfer(const LinkLevel& level, double bytes, double speed) {
    const double n = static_cast<double>(level.n);
    if (level.link->topology == Link::Topology::tree) return std::ceil(std::log2(n)) / 2 * bytes / (n * speed);
    if (!is_ring(*level.link)) return (n - 1) / (n * n) * bytes / speed;
    const double seconds = all_wrap(level) ? bytes / (8 * speed) : bytes / (2 * speed) * (1 - 1 / n) * stride(level);
    return seconds / parallel_axes(level);
}

} // namespace

double gather_seconds(const Mesh& mesh, const Hardware& hardware, std::span<const AxisRef> axes, double whole_bytes) {
    LinkSeconds seconds(hardware);
    for (const LinkLevel& level : levels_of(mesh, hardware, axes)) {
        const double bytes = whole_bytes / static_cast<double>(level.inside);
        seconds.add(hops_to_all(level) * level.link->latency,
                    gather_transfer(level, bytes, bandwidth(*level.link, bytes)));
    }
    return seconds.total();
}

double all_reduce_seconds(const Mesh& mesh, const Hardware& hardware, std::span<const AxisRef> axes, double bytes) {
    LinkSeconds seconds(hardware);
    for (const LinkLevel& level : levels_of(mesh, hardware, axes)) {
        const double part = bytes / static_cast<double>(level.inside);
        const double scatter = gather_transfer(level, part, bandwidth(*level.link, part));
        seconds.add(2 * hops_to_all(level) * level.link->latency, 2 * scatter / level.link->in_network_reduction);
    }
    return seconds.total();
}

double all_to_all_seconds(const Mesh& mesh, const Hardware& hardware, std::span<const AxisRef> axes,
                          double whole_bytes) {
    LinkSeconds seconds(hardware);
    const double devices = static_cast<double>(total_size(axes));
    for (const LinkLevel& level : levels_of(mesh, hardware, axes)) {
        // What n domains exchange that each hold n / devices of the value, a device of each sending to n of `devices`.
        const double n = static_cast<double>(level.n), inside = static_cast<double>(level.inside);
        const double bytes = whole_bytes * (n / devices) * (n / devices) * inside;
        seconds.add(hops_to_all(level) * level.link->latency,
                    all_to_all_transfer(level, bytes, bandwidth(*level.link, bytes)));
    }
    return seconds.total();
}

FastestCollective fastest_collective(const Mesh& mesh, const Hardware& hardware, std::span<const AxisRef> axes) {
    FastestCollective fastest;
    for (const LinkLevel& level : levels_of(mesh, hardware, axes)) {
        const Link& link = *level.link;
        double share = link.efficiency.empty() ? 1 : 0;
        for (const SizeShare& at : link.efficiency) share = std::max(share, at.share);
        // Each ring carries both directions; every other kind of link counts once, however many axes use it.
        const double lines = is_ring(link) ? 2 * parallel_axes(level) : 1;
        fastest.bytes_per_second += lines * link.bandwidth * share * link.in_network_reduction;
        const double hop = hardware.collective_launch + link.latency;
        fastest.seconds = fastest.seconds == 0 ? hop : std::min(fastest.seconds, hop);
    }
    return fastest;
}

} // namespace shard
