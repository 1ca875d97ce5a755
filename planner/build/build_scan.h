// Builds a block in a loop over its stacked parameters (`scan: true`): its outputs are carried from trip to trip, or
// stacked; its other inputs are the same in every trip, or an entry of a stack.
#pragma once

#include "planner/graph/loop_builder.h"
#include "planner/model/model.h"

#include <functional>

namespace shard {

struct ScanBuild {
    Builder& builder;
    const ModuleDecl& module;
    const Entry& entry;
    i64 trips = 1;
    bool reverse = false; // the last entries of stacks are taken first
    std::string instance; // path of the block's values
    // Builds the block in the loop.
    std::function<BuiltValues(LoopBuilder& loop, const std::vector<ValueId>& operands)> run;
    std::string axis;                       // of what is stacked
    size_t over = 0;                        // so many of the last operands are stacks, of which a trip takes an entry
    std::vector<bool> stacked_outputs = {}; // by output: put together along a dim in front, not carried
    // What the block leaves of each trip, asked for after `run`; afterwards `stacked` has all trips of it.
    std::function<std::vector<ValueId>()> leaves = {};
    std::function<void(const std::vector<ValueId>&)> stacked = {};
};

// By carried value, the mesh axes over which it varies; in manual regions.
using CarriedVarying = std::vector<std::vector<int>>;

// What the last trip makes, and of outputs that are stacked what all of them do; nullopt after reporting, or if a trip
// makes what varies over more axes than `varying` and the operands say: then `varying` says so afterwards, and what was
// built is of no use.
BuiltValues build_scan(const ScanBuild& build, std::vector<ValueId> operands, CarriedVarying& varying);

} // namespace shard
