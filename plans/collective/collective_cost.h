// Seconds of collectives by the link model (docs/cost-model.md): T = max(latency, bytes / bandwidth).
//
// V = bytes of the value whole on the group, n = devices of the group, W = one-way bytes/s of a link, a = latency of a
// hop:
//                     one-way ring         wrapped ring   tree             switched
//     gather, scatter (n-1)a               ceil(n/2)a     lg n a           a
//                     (n-1)/n V/W          V/(2W)         (n-1)/n V/W      (n-1)/n V/W
//     all_to_all      (1-1/n) V/(2W)       V/(8W)         (lg n)/2 V/(nW)  (n-1)/n^2 V/W
//
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
