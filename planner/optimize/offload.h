// What waits in the host's memory goes there and comes back.
//
//     h.fetched = host_copy h           of the global graph, just before the backward pass reads it
//
// becomes two copies, so that between them no device holds the value:
//
//     h.host = host_copy h              behind what makes h; Value::on_host
//     h.fetched = host_copy h.host      where it was
//
// What a loop stacked up for the backward loop needs no such nodes: the stack itself is on the host, each trip of the
// one writes its entry there, and each trip of the other reads it. States that are on the host are fetched for whoever
// reads them, and what replaces them is copied there.
#pragma once

#include "planner/partition/local.h"

namespace shard {

void offload(Local& local);

} // namespace shard
