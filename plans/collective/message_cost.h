// Seconds of messages between single devices: what a collective_permute is made of.
//
// A message crosses the outermost link on which its ends differ. On a switched link each device has a port of its own.
// On a ring or torus it goes from neighbour to neighbour the shorter way round, in equal parts over all orders of the
// axes in which its ends differ, and the fullest link counts: from one corner of an open 4x4 torus to the other, half
// of 16 MiB goes out of each of the two ports of a corner, 16777216 / 9e10 = 186 us and 6 hops.
#pragma once

#include "plans/collective/link_levels.h"

#include <functional>

namespace shard {

// Every device of the mesh receives `bytes` from the position that `source` gives for its own; -1 or its own: nothing.
// Ends differ along `axes` alone.
double message_seconds(const Mesh& mesh, const Hardware& hardware, std::span<const AxisRef> axes,
                       const std::function<i64(i64)>& source, double bytes);

// A message between the devices of a group that are farthest from each other, through one port. Where nobody says who
// sends to whom, or too many do: it is looked up thousands of times while a plan is searched.
double farthest_message_seconds(const Mesh& mesh, const Hardware& hardware, std::span<const AxisRef> axes,
                                double bytes);

} // namespace shard
