// Seconds of collectives by the link model (docs/cost-model.md).
//
// A group crosses links level by level (link_levels.h). At one level, V = bytes of the value whole on the level, n =
// domains that take part, W = bytes/s one way that a device reaches on the link at this size, a = latency of a hop:
//                     one-way ring         wrapped ring   tree             switched
//     gather, scatter (n-1)a               ceil(n/2)a     lg n a           lg n a
//                     (n-1)/n V/W          V/(2W)         (n-1)/n V/W      (n-1)/n V/W
//     all_to_all      (1-1/n) V/(2W)       V/(8W)         (lg n)/2 V/(nW)  (n-1)/n^2 V/W
// k axes of one ring or torus link share the bytes: the bandwidth term is divided by k and latencies add. A uniform
// link is a switched one of one hop. (scaling-book, "Sharded Matrices" and "How to Think About GPUs".)
//
// Levels work at the same time, each on its part of the value, so the transfer takes as long as the slowest level's;
// latencies of levels add. Of a gather a level carries V / (devices of the group inside one of its domains), since each
// of those fetches a part of its own and they share it inside; of an all_to_all what is meant for another domain.
// An all_reduce is a scatter and a gather, divided by what a link gains whose switches add (in_network_reduction).
//
// T = launch + latency + transfer where the profile's latencies add, otherwise max(launch + latency, transfer).
//
// Examples. TPU v4, 4 chips in a wrapped ring, W 4.5e10: gathering 2 MiB takes 2097152 / 9e10 = 23.3 us. Two nodes of 8
// H100, gathering 1 GiB: 7/8 GiB / 450e9 = 2088 us inside against 1/2 GiB / 8 / 50e9 = 1342 us between: 2088 us.
#pragma once

#include "plans/base/saturating.h"
#include "plans/collective/link_levels.h"

namespace shard {

// An all_gather, reduce_scatter or broadcast of a value of `whole_bytes`, over links of any kind.
double gather_seconds(const Mesh& mesh, const Hardware& hardware, std::span<const AxisRef> axes, double whole_bytes);
double all_reduce_seconds(const Mesh& mesh, const Hardware& hardware, std::span<const AxisRef> axes, double bytes);
double all_to_all_seconds(const Mesh& mesh, const Hardware& hardware, std::span<const AxisRef> axes,
                          double whole_bytes);

// No collective among devices that differ along `axes` brings a device more bytes a second, or takes less time.
struct FastestCollective {
    double bytes_per_second = 0; // 0: no device is reached
    double seconds = 0;
};
FastestCollective fastest_collective(const Mesh& mesh, const Hardware& hardware, std::span<const AxisRef> axes);

} // namespace shard
