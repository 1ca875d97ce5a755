// Values that are put into bytes which are there already: a new parameter into those of the one that it replaces.
//
// A value lands directly if the step that makes it may write there: no later step reads the old contents, and if this
// one does, it can run in place. Otherwise it is made elsewhere and copied, as soon as nobody reads the old contents:
//
//     w' = w - lr * g                     written over w, element by element
//     w' = all_gather(w.shard'), then w   copied into w after the last step that reads w
//
// Works on the local graph; which buffer shares whose bytes is then decided by `schedule`.
#pragma once

#include "planner/partition/local.h"

namespace shard {

// What a loop carries lies in one place: inits that are needed otherwise are copied before it, yields land in the bytes
// of the arguments. Node ids change where copies come in between.
void land_carried(Local& local);

// Lands all updates. Outputs that show what an update overwrites become copies of it.
void land_updates(Local& local);

} // namespace shard
