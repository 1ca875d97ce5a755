// The graph as propagation sees it: slots that hold a sharding, and links (an index rule over slots) through which axes
// move. A value is a slot, and so is an output whose sharding the layout asks for. Readers behind a chain of
// constraints read the end of the chain. Constants need no care: the builder gives every use its own.
#pragma once

#include "planner/graph/rule_cache.h"
#include "planner/propagate/op_priority.h"
#include "planner/propagate/propagate.h"

namespace shard {

// A value as the net sees it: what was asked of its sharding before anything spreads.
struct Slot {
    ValueId value = -1;
    Sharding seed;          // open where nothing was asked; without axes of size 1
    bool seeded = false;    // something was asked
    bool is_output = false; // the slot of an output's requested sharding
};

struct PropagationLink {
    NodeId node = -1; // -1: between a value and its requested output
    int rule = -1;
    OpTraits traits;
    std::vector<int> operands, results; // slots
};

struct PropagationNet {
    std::vector<Slot> slots; // slot i < number of values is value i; then requested outputs
    std::vector<PropagationLink> links, output_links;
    std::vector<std::vector<int>> links_of; // by slot: the producer first, then users in order
    std::vector<int> output_slots;          // by output index; -1 = nothing asked
    RuleCache rules;
    DecisionLog log; // shardings that the constraint pre-pass copied
};

// Collects seeds and constraints. A fully closed constraint is copied to its input if that has no seed and no other
// constraint that disagrees, so that the producer makes the value as it is wanted.
PropagationNet make_net(const Graph& graph, const Seeds& seeds);

} // namespace shard
