// Seconds of collectives by the link model of reference cost: T = max(latency, bytes / bandwidth).
//
// V = bytes of the value whole on the group, n = devices of the group, W = one-way bytes/s of a link, a = latency of a
// hop:
//     gather or scatter   one-way ring (n-1)a, (n-1)/n V/W    wrapped ring ceil(n/2)a, V/(2W)    tree lg n a, (n-1)/n
//     V/W    switched a, (n-1)/n V/W all-to-all          one-way ring V/(2W)(1-1/n)          wrapped ring V/(8W) tree
//     (lg n)/2 V/(nW)        switched (n-1)/n^2 V/W
// k axes of one ring or torus link share the bytes: the bandwidth term is divided by k and latencies add. Groups over
// several kinds of link: every kind carries the value once, so the slowest term counts. A uniform link is a switched
// one. Example (TPU v4, 4 chips in a wrapped ring, W 4.5e10): gathering 2 MiB takes 2097152 / 9e10 = 23.3 us.
#pragma once

#include "plans/base/saturating.h"
#include "plans/collective/hardware.h"

namespace shard {

// One direction of a ring all_gather or reduce_scatter of a value of `whole_bytes`.
double gather_seconds(const Mesh& mesh, const Hardware& hardware, std::span<const AxisRef> axes, double whole_bytes);
double all_to_all_seconds(const Mesh& mesh, const Hardware& hardware, std::span<const AxisRef> axes,
                          double whole_bytes);
// Every device sends at most one buffer of `bytes` over at most `hops` hops of the slowest link.
double send_seconds(const Mesh& mesh, const Hardware& hardware, std::span<const AxisRef> axes, i64 hops, double bytes);
// True if the ends of the axis are connected.
bool wraps(const Mesh& mesh, const Hardware& hardware, const AxisRef& ref);

} // namespace shard
