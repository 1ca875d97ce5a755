#include "plans/collective/collective_cost.h"

#include "plans/sharding/axis_lists.h"
#include "plans/sharding/axis_stride.h"

#include <algorithm>
#include <cmath>

namespace shard {

namespace {

// The part of a group that runs over one kind of link.
struct LinkShare {
    const Link* link = nullptr;
    i64 n = 1;                 // devices along these axes
    std::vector<AxisRef> refs; // axes and sub-axes, parts of one axis joined where they can be
    bool wrap = true;          // all of them wrap
    i64 stride = 1;            // rings: hops between neighbours, the most over refs
    double groups_on_a_link() const { return static_cast<double>(stride); }
};

// Neighbours along a sub-axis that has minor parts right of it are that far apart on the ring.
std::vector<LinkShare> shares_of(const Mesh& mesh, const Hardware& hardware, std::span<const AxisRef> axes) {
    std::vector<LinkShare> shares;
    std::vector<AxisRef> sorted(axes.begin(), axes.end());
    std::sort(sorted.begin(), sorted.end());
    for (const AxisRef& ref : merged(sorted)) {
        if (ref.size == 1) continue;
        const Link* link = &link_of(hardware, mesh.axes[ref.axis]);
        auto share = std::find_if(shares.begin(), shares.end(), [&](const LinkShare& s) { return s.link == link; });
        if (share == shares.end()) share = shares.insert(shares.end(), LinkShare{link, 1, {}, true});
        share->n *= ref.size;
        share->stride = std::max(share->stride, stride_of(mesh, ref));
        share->refs.push_back(ref);
        share->wrap = share->wrap && wraps(mesh, hardware, ref);
    }
    return shares;
}

bool is_ring(const Link& link) {
    return link.topology == Link::Topology::ring || link.topology == Link::Topology::torus;
}

// Mesh axes that carry bytes at the same time; parts of one axis share its links.
double parallel_axes(const LinkShare& share) {
    std::vector<int> seen;
    for (const AxisRef& ref : share.refs) {
        if (std::find(seen.begin(), seen.end(), ref.axis) == seen.end()) seen.push_back(ref.axis);
    }
    return static_cast<double>(seen.size());
}

double latency_of(const LinkShare& share) {
    const Link& link = *share.link;
    if (link.topology == Link::Topology::tree) return std::ceil(std::log2(static_cast<double>(share.n))) * link.latency;
    if (!is_ring(link)) return link.latency;
    double seconds = 0;
    for (const AxisRef& ref : share.refs) {
        i64 hops = share.wrap ? (ref.size + 1) / 2 : (ref.size - 1) * share.stride;
        seconds += static_cast<double>(hops) * link.latency;
    }
    return seconds;
}

double gather_transfer(const LinkShare& share, double bytes) {
    const Link& link = *share.link;
    double n = static_cast<double>(share.n);
    double sent = (n - 1) / n * bytes / link.bandwidth;
    if (!is_ring(link)) return sent;
    return (share.wrap ? bytes / (2 * link.bandwidth) : sent * share.groups_on_a_link()) / parallel_axes(share);
}

double all_to_all_transfer(const LinkShare& share, double bytes) {
    const Link& link = *share.link;
    double n = static_cast<double>(share.n);
    if (link.topology == Link::Topology::tree) return std::ceil(std::log2(n)) / 2 * bytes / (n * link.bandwidth);
    if (!is_ring(link)) return (n - 1) / (n * n) * bytes / link.bandwidth;
    double seconds = share.wrap ? bytes / (8 * link.bandwidth)
                                : bytes / (2 * link.bandwidth) * (1 - 1 / n) * share.groups_on_a_link();
    return seconds / parallel_axes(share);
}

template<class Transfer>
double slowest(const std::vector<LinkShare>& shares, Transfer transfer, double bytes) {
    double latency = 0, seconds = 0;
    for (const LinkShare& share : shares) {
        latency += latency_of(share);
        seconds = std::max(seconds, transfer(share, bytes));
    }
    return std::max(latency, seconds);
}

} // namespace

bool wraps(const Mesh& mesh, const Hardware& hardware, const AxisRef& ref) {
    const Link& link = link_of(hardware, mesh.axes[ref.axis]);
    return link.wrap && is_whole(mesh, ref) && ref.size >= link.wrap_from;
}

double gather_seconds(const Mesh& mesh, const Hardware& hardware, std::span<const AxisRef> axes, double whole_bytes) {
    return slowest(shares_of(mesh, hardware, axes), gather_transfer, whole_bytes);
}

double all_to_all_seconds(const Mesh& mesh, const Hardware& hardware, std::span<const AxisRef> axes,
                          double whole_bytes) {
    return slowest(shares_of(mesh, hardware, axes), all_to_all_transfer, whole_bytes);
}

double send_seconds(const Mesh& mesh, const Hardware& hardware, std::span<const AxisRef> axes, i64 hops, double bytes) {
    double latency = 0, transfer = 0;
    for (const LinkShare& share : shares_of(mesh, hardware, axes)) {
        latency = std::max(latency, share.link->latency * static_cast<double>(is_ring(*share.link) ? hops : 1));
        transfer = std::max(transfer, bytes / share.link->bandwidth);
    }
    return std::max(latency, transfer);
}

} // namespace shard
