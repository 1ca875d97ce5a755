// Moves collectives away from what waits for them, so that what is computed in between hides them. A collective begins
// where it stands and is waited for where its result is first read (planner/schedule/schedule.h):
//
//     before   wq' = all_gather(wq), q = x wq', ..., wo' = all_gather(wo), y = a wo'      each gather is waited for
//     after    wq' = all_gather(wq), wo' = all_gather(wo), q = x wq', ..., y = a wo'      wo' arrives while q is made
//
// A parameter's gather moves up to where just enough is computed before its first reader, and never so far that, with it,
// more than twice its bytes of gathered parameters wait to be read, but for the one before it. A reduction moves up to what makes its operand. Nothing
// leaves its loop. All else keeps its order.
#pragma once

#include "planner/partition/local.h"
#include "plans/collective/hardware.h"

namespace shard {

// Without `prefetch` gathers stay.
void overlap(Local& local, const Mesh& mesh, const Hardware& hardware, bool prefetch = true);

} // namespace shard
