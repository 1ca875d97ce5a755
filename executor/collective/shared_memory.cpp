#include "executor/collective/shared_memory.h"

#include "executor/collective/share.h"
#include "plans/base/saturating.h"

#include <algorithm>
#include <set>

namespace shard {

Groups groups_along(const Mesh& mesh, std::span<const AxisRef> axes) {
    const size_t devices = mesh.device_count();
    Groups groups;
    groups.group.assign(devices, devices);
    groups.rank.assign(devices, 0);
    groups.members.reserve(devices / total_size(axes));
    for (size_t position = 0; position < devices; ++position) {
        if (groups.group[position] != devices) continue;
        std::vector<i64> members = group_of(mesh, static_cast<i64>(position), axes);
        for (size_t rank = 0; rank < members.size(); ++rank) {
            groups.group[members[rank]] = groups.members.size();
            groups.rank[members[rank]] = rank;
        }
        groups.members.push_back(std::move(members));
    }
    return groups;
}

SharedMemory::SharedMemory(const Plan& plan, const Program& program, const Arenas& arenas,
                           std::function<void(int)> wake)
    : plan_(plan), arenas_(arenas), wake_(std::move(wake)) {
    for (const Start* start : program.starts) {
        State state;
        state.start = start;
        for (const State& other : states_) // layers repeat: most collectives run over the same groups
            if (other.start->collective.axes == start->collective.axes) state.groups = other.groups;
        if (!state.groups)
            state.groups = std::make_shared<const Groups>(groups_along(plan.mesh, start->collective.axes));
        state.group.resize(state.groups->members.size());
        for (size_t i = 0; i < state.group.size(); ++i) {
            state.group[i].inputs.resize(state.groups->members[i].size());
            state.group[i].outputs.resize(state.groups->members[i].size());
        }
        state.device.resize(plan.mesh.device_count());
        states_.push_back(std::move(state));
    }
}

i64 SharedMemory::required_bytes(const Mesh& mesh, const Program& program) {
    constexpr i64 pointer = static_cast<i64>(sizeof(void*)), block = 2 * pointer; // malloc's own
    const i64 devices = mesh.device_count();
    i64 bytes = 0;
    std::set<std::vector<AxisRef>> seen;
    for (const Start* start : program.starts) {
        const std::vector<AxisRef>& axes = start->collective.axes;
        const i64 groups = devices / total_size(axes);
        if (seen.insert(axes).second) { // Groups, which collectives over the same axes share
            constexpr i64 vector = static_cast<i64>(sizeof(std::vector<i64>)) + block;
            bytes = add_saturating(
                bytes, add_saturating(multiply_saturating(devices, 3 * pointer), multiply_saturating(groups, vector)));
        }
        constexpr i64 device = static_cast<i64>(sizeof(DeviceState)) + 2 * pointer;
        constexpr i64 group = static_cast<i64>(sizeof(GroupState)) + 2 * block;
        bytes = add_saturating(
            bytes, add_saturating(multiply_saturating(devices, device), multiply_saturating(groups, group)));
    }
    return bytes;
}

void SharedMemory::start(int collective, int device, const std::byte* input, std::byte* output) {
    State& state = states_[collective];
    const size_t position = device;
    GroupState& group = state.group[state.groups->group[position]];
    bool complete = false;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        const size_t rank = state.groups->rank[position];
        group.inputs[rank] = input;
        group.outputs[rank] = output;
        state.device[position].round = group.rounds;
        state.device[position].share_done = false;
        complete = ++group.arrived == group.inputs.size();
    }
    if (complete) wake_others(*state.groups, device);
}

bool SharedMemory::wait(int collective, int device) {
    State& state = states_[collective];
    const size_t position = device;
    GroupState& group = state.group[state.groups->group[position]];
    DeviceState& own = state.device[position];
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (group.rounds > own.round) return true;
        if (own.share_done || group.arrived < group.inputs.size()) return false;
    }
    // All have arrived and this share is missing: the group's operands cannot change now.
    const i64 moved = carry_out(state, group, device);
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        own.share_done = true;
        own.wire_bytes += moved;
        if (++group.finished < group.inputs.size()) return false;
        ++group.rounds;
        group.arrived = group.finished = 0;
    }
    wake_others(*state.groups, device);
    return true;
}

i64 SharedMemory::wire_bytes(int collective) const {
    i64 sum = 0;
    for (const DeviceState& device : states_[collective].device) sum += device.wire_bytes;
    return sum;
}

i64 SharedMemory::carry_out(const State& state, const GroupState& group, int device) const {
    const size_t position = device;
    const Buffer& input = plan_.buffers[state.start->input];
    const Buffer& output = plan_.buffers[state.start->output];
    Traffic traffic(arenas_.of(device), arenas_.bytes());
    const Share share = {plan_.mesh,
                         state.start->collective,
                         state.groups->members[state.groups->group[position]],
                         state.groups->rank[position],
                         group.inputs,
                         group.outputs,
                         {input.dtype, input.shape, {}},
                         {output.dtype, output.shape, {}}};
    carry_out_share(share, traffic);
    return traffic.wire_bytes();
}

void SharedMemory::wake_others(const Groups& groups, int device) {
    for (i64 member : groups.members[groups.group[device]])
        if (member != device) wake_(static_cast<int>(member));
}

} // namespace shard
