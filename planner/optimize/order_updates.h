// Moves an optimizer's steps to where their gradients are: then a gradient does not live until the end of the step, and
// its collective runs beside the rest of the backward pass.
//
//     before    ... g2.partial, ..., g1.partial, g1 = all_reduce, w1' = w1 - g1, g2 = all_reduce, w2' = w2 - g2
//     after     ... g2.partial, g2 = all_reduce, ..., g1.partial, g1 = all_reduce, w2' = w2 - g2, w1' = w1 - g1
//
// What depends on a gradient moves up, never past a reader of the old parameter, which it may overwrite. What reads a
// gradient that a collective makes waits until the next gradient's collective has begun. All else keeps its order.
#pragma once

#include "planner/partition/local.h"

namespace shard {

void order_updates(Local& local);

} // namespace shard
