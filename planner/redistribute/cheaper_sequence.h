// Whether a run of hand-written collectives, each of which alone reads the one before, could be had for less. The run
// takes a value from one sharding to another: what a device holds where it begins is seen as its part of a whole value,
// split or partial as the run's ops need it. Then the planner's own search (redistribute) knows the cheapest way.
//
//     psum over i, own_block of dim 0     [- | -] U{i} -> [i | -]     psum_scatter
//     all_gather of dim 0, own_block of 1 [i | -]      -> [- | i]     all_to_all
#pragma once

#include "planner/graph/graph.h"
#include "planner/graph/users.h"
#include "planner/redistribute/redistributor.h"

namespace shard {

// What to write in place of the run that `node`, its first collective, begins; empty if nothing is cheaper, and for
// the later ones of a run. users[value] are its readers.
std::string cheaper_sequence(const Graph& graph, const Users& users, const Node& node, Redistributor& redistributor);

} // namespace shard
