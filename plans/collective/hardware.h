// A hardware profile: what the price of a plan is computed from. Files: planner/hardware/<name>.yaml, each number with
// its source.
#pragma once

#include "plans/sharding/mesh.h"

#include <map>

namespace shard {

// The share of its peak that something reaches at a size: a link's bandwidth where it carries `size` bytes of a value,
// an attention kernel's rate with heads of `size` elements.
struct SizeShare {
    double size = 0;
    double share = 1;
    bool operator==(const SizeShare&) const = default;
};
// By ascending size: between two sizes the share is a power of the size, beyond the ends it stays. 1 of an empty curve.
double share_at(const std::vector<SizeShare>& curve, double size);

// How devices are connected. bandwidth is one way, bytes/s per device and direction.
struct Link {
    enum class Topology { ring, torus, switched, tree, uniform };
    std::string name;
    Topology topology = Topology::uniform;
    double bandwidth = 1;
    double latency = 0; // seconds per hop
    bool wrap = false;  // ring, torus: the ends are connected, both directions used
    i64 wrap_from = 0;  // an axis wraps only if it has at least this size (TPU v5e: 16); 0 = by `wrap` alone
    i64 devices = 0;    // that it connects (a node, a pod); what lies farther apart takes the next link; 0 = all
    std::vector<SizeShare> efficiency = {}; // by bytes of a value (share_at)
    // An all_reduce is this much faster than a reduce_scatter and an all_gather: its switches add (NVLink SHARP).
    double in_network_reduction = 1;
    bool operator==(const Link&) const = default;
};

// Where all that a step touches is at most `bytes`, it lies in caches, and moves at these rates.
struct CacheRates {
    double bytes = 0;
    double bandwidth = 0, product_bandwidth = 0; // as memory's; 0: no faster
    bool operator==(const CacheRates&) const = default;
};

struct Hardware {
    std::string name;
    std::string doc;
    std::map<std::string, double> flops; // by dtype name, FLOP/s at peak
    double flop_efficiency = 1;
    // Instead of flop_efficiency, of attention's kernels: the share of the peak by the elements of a head. The second is
    // of its gradients'. Empty: flop_efficiency.
    std::vector<SizeShare> attention_efficiency = {}, attention_gradient_efficiency = {};
    double memory_bytes = 0;
    double memory_bandwidth = 0; // bytes/s
    double memory_efficiency = 1;
    // Bytes/s at which products and convolutions put their operands in the order of their blocks, as BLAS on a CPU does;
    // 0: at memory_bandwidth.
    double product_bandwidth = 0;
    CacheRates cached = {};
    bool roofline_adds = false; // seconds of a kernel: its arithmetic + its bytes; otherwise the larger of both
    double kernel_launch = 0;   // seconds before each kernel
    i64 row_alignment = 0;      // bytes at whose multiples the rows of products begin, or they are slow; 0: no such
    // Of a device with its host, bytes/s in one direction, and its share of the host's memory; 0: not known.
    double host_bandwidth = 0, host_memory_bytes = 0;
    // Inner to outer: an axis without a link of its own takes the first, and the next where it goes beyond `devices`.
    std::vector<Link> links;
    double collective_launch = 0; // seconds before the first byte of a collective moves
    bool latency_adds = false;    // seconds of a collective: latency + transfer; otherwise the larger of both
    bool overlaps = true;         // kernels run while collectives are under way; not where both take the same cores
    std::vector<std::string> sources;
    bool operator==(const Hardware&) const = default;
};

std::string_view name(Link::Topology topology); // "ring", ..., as profiles write it
std::optional<Link::Topology> parse_topology(std::string_view text);
// Index in hardware.links of the one that the axis names, of the first if it names none; internal error if the name was
// not checked.
size_t link_of(const Hardware& hardware, const MeshAxis& axis);
// As a step of so many bytes on a device finds it.
Hardware for_working_set(Hardware hardware, double bytes);
// Bytes/s that the link reaches where it carries `size` bytes of a value.
double bandwidth(const Link& link, double size);

} // namespace shard
