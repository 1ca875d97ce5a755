// The steps of a plan as a program over values, for engines that place and free them themselves: a step makes a value
// of its own, a view is a reshape, and what a loop's trips hand on is said. There are no bytes, waits and releases.
#pragma once

#include "plans/plan/plan.h"

#include <list>
#include <map>

namespace shard {

struct ProgramValue {
    std::string name; // of the buffer
    DType dtype = DType::f32;
    Shape shape; // local
};

struct ProgramStep;
// Values by number.
struct ProgramCompute {
    const Compute* step = nullptr;
    std::vector<int> inputs;
    int output = -1;
    std::map<int, int> scalars = {}; // of buffers that the kernel's affine expressions read
};
struct ProgramCollective {
    const Start* step = nullptr;
    int input = -1, output = -1;
};
struct ProgramReshape {
    int input = -1, output = -1;
};
struct ProgramZeros { // what a loop hands on before its first trip, where nothing was there
    int output = -1;
};
struct ProgramLoop {
    struct Carried {
        int init = -1, argument = -1, yield = -1, result = -1;
    };
    const Loop* step = nullptr;
    std::vector<Carried> carried;
    std::vector<ProgramStep> body;
};
struct ProgramStep : std::variant<ProgramCompute, ProgramCollective, ProgramReshape, ProgramZeros, ProgramLoop> {
    using variant::variant;
    using Variant = std::variant<ProgramCompute, ProgramCollective, ProgramReshape, ProgramZeros, ProgramLoop>;
    const Variant& variant_ref() const { return *this; }
};

struct LocalProgram {
    std::vector<ProgramValue> values;
    std::vector<ProgramStep> steps;
    std::vector<int> inputs, outputs; // as the plan's
    std::list<Compute> written;       // steps that stand in place of one of the plan's
};

LocalProgram local_program(const Plan& plan); // of a plan that is safe to run; it refers into the plan

// What a device's part of an input holds at the start.
Generate initial_block(const PlanInput& input, const Buffer& buffer);
// Whether the block of some device ends behind the whole, as of an array that is padded.
bool reaches_beyond(const Generate& kernel, const Shape& block);

} // namespace shard
