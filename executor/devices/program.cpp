#include "executor/devices/program.h"

#include <algorithm>
#include <map>

namespace shard {

namespace {

struct Flattener {
    Program program;
    std::map<int, int> collective_of_token;
    int steps = 0;

    void add(const std::vector<Step>& list) {
        for (const Step& step : list) std::visit([this](const auto& s) { add(s); }, step.variant_ref());
    }
    // The next step's instruction.
    DeviceInstruction next(DeviceInstruction::Kind kind) {
        DeviceInstruction instruction = {};
        instruction.kind = kind;
        instruction.step = steps++;
        return instruction;
    }
    void add(const Compute& compute) {
        DeviceInstruction instruction = next(DeviceInstruction::Kind::compute);
        instruction.compute = &compute;
        program.instructions.push_back(instruction);
    }
    void add(const Start& start) {
        DeviceInstruction instruction = next(DeviceInstruction::Kind::start);
        instruction.start = &start;
        instruction.collective = static_cast<int>(program.starts.size());
        collective_of_token[start.token] = instruction.collective;
        program.starts.push_back(&start);
        program.instructions.push_back(instruction);
    }
    void add(const Wait& wait) {
        const std::map<int, int>::const_iterator found = collective_of_token.find(wait.token);
        internal_check(found != collective_of_token.end(), "a wait without a start");
        DeviceInstruction instruction = next(DeviceInstruction::Kind::wait);
        instruction.collective = found->second;
        program.instructions.push_back(instruction);
    }
    void add(const Loop& loop) {
        internal_check(loop.index >= 0, "a loop without an index");
        program.loop_indices = std::max(program.loop_indices, loop.index + 1);
        const size_t begin = program.instructions.size();
        DeviceInstruction instruction = next(DeviceInstruction::Kind::loop);
        instruction.loop = &loop;
        program.instructions.push_back(instruction);
        add(loop.body);
        instruction.kind = DeviceInstruction::Kind::end_loop;
        instruction.target = begin + 1;
        program.instructions.push_back(instruction);
        program.instructions[begin].target = program.instructions.size();
    }
    void add(const Release& release) {
        DeviceInstruction instruction = next(DeviceInstruction::Kind::release);
        instruction.buffer = release.buffer;
        program.instructions.push_back(instruction);
    }
};

} // namespace

Program flatten(const Plan& plan) {
    Flattener flattener;
    flattener.add(plan.steps);
    return std::move(flattener.program);
}

} // namespace shard
