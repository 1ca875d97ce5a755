// A plan's steps as one flat list of instructions, so that a device's place in it is a counter and a stack of loop
// trips and a device can stop and go on anywhere. The same program serves all devices.
#pragma once

#include "plans/plan/plan.h"

namespace shard {

struct DeviceInstruction {
    enum class Kind { compute, start, wait, loop, end_loop, release };
    Kind kind = Kind::compute;
    const Compute* compute = nullptr;
    const Start* start = nullptr;
    int collective = -1; // start, wait: which Start of the plan, in plan order
    const Loop* loop = nullptr;
    size_t target = 0;   // loop: behind its end; end_loop: the first instruction of the body
    int buffer = -1;     // release
    int step = -1;       // of the plan, counted as they are written, a loop before its body
    size_t together = 1; // with those behind it, as executor/devices/pointwise_runs.h says
};

struct Program {
    std::vector<DeviceInstruction> instructions;
    std::vector<const Start*> starts; // in plan order
    int loop_indices = 0;             // largest loop index id + 1
};

// Points into `plan`, which must outlive the program. Internal error for a Wait without a Start before it.
Program flatten(const Plan& plan);

} // namespace shard
