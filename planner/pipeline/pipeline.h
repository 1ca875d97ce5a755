// The whole planner as one function, and in parts for who plans one model under several layouts.
#pragma once

#include "planner/pipeline/compilation.h"

namespace shard {

// Runs the request's passes until one reports an error, and checks what they promise: what several in a row promise
// alike after the last of them, in Debug builds after each.
Compilation compile(Sources& sources, const PlanRequest& request);

// The first of the request's passes, up to that of this name and without it; all if there is none of this name. Those
// before `seed` read of a layout the mesh, what to do about axes that it does not have, and the hardware: under layouts
// that are equal in these they make the same.
std::span<const PassDef> passes_before(std::string_view name, const PlanRequest& request);

// As compile() runs them, on what the passes before them made. `passes` are some of the request's.
void run_passes(Compilation& c, std::span<const PassDef> passes, const PlanRequest& request, Sources& sources);

// From `seed` on, all ways, and the best of them.
Compilation compile_rest(Compilation begun, const PlanRequest& request, Sources& sources);

// What is planned side by side from `seed` on: both ways of fsdp's gathers where the layout leaves them open, else one.
std::vector<Compilation> ways_of(Compilation begun);

// Of ways that were planned that which fits, and of two that do the faster, by one percent if it keeps parameters whole.
Compilation best_of(std::vector<Compilation> ways);

} // namespace shard
