// Brings small reductions that are alike together, so that they are one launch (plans/collective/launch.h).
//
//     before   a = all_reduce(a.partial), ..., b.partial, b = all_reduce(b.partial), ..., what reads a and b
//     after    ..., b.partial, a = all_reduce(a.partial), b = all_reduce(b.partial), ..., what reads a and b
//
// One begins later, with the next, where that costs nothing: until somebody waits for it, enough is computed behind the
// next to hide them both; or where what is computed between the two takes less time than a launch. Kernels that take
// less than a launch wait along with what they read: the adds of a norm over many gradients, the update of a bias.
// Nothing leaves its loop. All else keeps its order.
#pragma once

#include "planner/partition/local.h"
#include "plans/collective/hardware.h"

namespace shard {

void combine(Local& local, const Mesh& mesh, const Hardware& hardware);

} // namespace shard
