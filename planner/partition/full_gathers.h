// Says where XLA would say "Involuntary full rematerialization" (W0403), and which constraint avoids it.
#pragma once

#include "planner/partition/local.h"
#include "plans/collective/hardware.h"

namespace shard {

void warn_of_full_gathers(const Local& local, const Graph& graph, const Mesh& mesh, const Hardware& hardware,
                          Diagnostics& diagnostics);

} // namespace shard
