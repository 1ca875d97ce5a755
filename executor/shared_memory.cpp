#include "executor/shared_memory.h"

#include "executor/collective_share.h"

#include <algorithm>

namespace shard {

Groups groups_along(const Mesh& mesh, std::span<const AxisRef> axes) {
    const size_t devices = static_cast<size_t>(mesh.device_count());
    Groups groups;
    groups.group.assign(devices, devices);
    groups.rank.assign(devices, 0);
    for (size_t position = 0; position < devices; ++position) {
        if (groups.group[position] != devices) continue;
        std::vector<i64> members = group_of(mesh, static_cast<i64>(position), axes);
        for (size_t rank = 0; rank < members.size(); ++rank) {
            groups.group[static_cast<size_t>(members[rank])] = groups.members.size();
            groups.rank[static_cast<size_t>(members[rank])] = rank;
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
        for (const std::vector<i64>& members : state.groups->members) {
            GroupState group;
            group.inputs.resize(members.size());
            group.outputs.resize(members.size());
            state.group.push_back(std::move(group));
        }
        state.device.resize(static_cast<size_t>(plan.mesh.device_count()));
        states_.push_back(std::move(state));
    }
}

void SharedMemory::start(int collective, int device, const std::byte* input, std::byte* output) {
    State& state = states_[static_cast<size_t>(collective)];
    const size_t position = static_cast<size_t>(device);
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
    State& state = states_[static_cast<size_t>(collective)];
    const size_t position = static_cast<size_t>(device);
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
    for (const DeviceState& device : states_[static_cast<size_t>(collective)].device) sum += device.wire_bytes;
    return sum;
}

i64 SharedMemory::carry_out(const State& state, const GroupState& group, int device) const {
    const size_t position = static_cast<size_t>(device);
    const Buffer& input = plan_.buffers[static_cast<size_t>(state.start->input)];
    const Buffer& output = plan_.buffers[static_cast<size_t>(state.start->output)];
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
    for (i64 member : groups.members[groups.group[static_cast<size_t>(device)]])
        if (member != device) wake_(static_cast<int>(member));
}

} // namespace shard
