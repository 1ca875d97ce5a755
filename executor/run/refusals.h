// What is refused before anything is allocated. Each reports and says false.
#pragma once

#include "executor/devices/program.h"
#include "executor/engine/ranks.h"
#include "plans/plan/plan.h"

namespace shard {

// E0609: a run ends between two steps of training and not inside one, so what would take days is not begun.
bool fits_time(const Plan& plan, Diagnostics& diagnostics);
// E0609: what the devices do in a step, noted one by one, is more than a trace is read for.
bool fits_trace(const Plan& plan, Diagnostics& diagnostics);
// E0608: OpenBLAS counts rows and columns in 31 bits.
bool fits_blas(const Plan& plan, const Program& program, Diagnostics& diagnostics);
// E0601: more than the machine has free. returns_initial: as RunOptions::return_initial; held: devices on this machine.
bool fits_memory(const Plan& plan, bool returns_initial, i64 held, Diagnostics& diagnostics);
// With what comparing it with `reference` takes.
bool fits_memory_verified(const Plan& plan, const Plan& reference, Diagnostics& diagnostics);
// E0617: the devices are not the same number for each rank.
bool fits_ranks(const Plan& plan, const Ranks& ranks, Diagnostics& diagnostics);

} // namespace shard
