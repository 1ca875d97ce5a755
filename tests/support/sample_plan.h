// A small plan that has a little of everything a plan file can hold, and is safe to run.
#pragma once

#include "plans/plan/plan.h"

namespace shard {

Plan sample_plan();
Plan looping_plan(); // a loop of three trips, and offsets that depend on the trip and on a scalar
// A step by hand on data 2 that updates its inputs in place, by a collective (as ZeRO-1 does) and by copies. Of whole
// values, all of them ones unless they are given:
//     m.next = m + sum of x's rows    w.next = w - m.next    u.next = u + w    late = u + u.next
//     count.next = 2 count            a, b = b, a
Plan updating_plan();

} // namespace shard
