#include "executor/collective/shared_memory.h"

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
                           std::function<void(int)> wake, Messages* messages)
    : plan_(plan), arenas_(arenas), wake_(std::move(wake)), messages_(messages) {
    for (const Start* start : program.starts) {
        State state;
        state.start = start;
        for (const State& other : states_) // layers repeat: most collectives run over the same groups
            if (other.start->collective.axes == start->collective.axes) state.groups = other.groups;
        if (!state.groups)
            state.groups = std::make_shared<const Groups>(groups_along(plan.mesh, start->collective.axes));
        state.group.resize(state.groups->members.size());
        for (size_t i = 0; i < state.group.size(); ++i) {
            GroupState& group = state.group[i];
            group.inputs.reserve(state.groups->members[i].size());
            group.outputs.reserve(state.groups->members[i].size());
            for (i64 member : state.groups->members[i]) {
                group.inputs.push_back(arenas.of(member) + plan.buffers[start->input].offset);
                group.outputs.push_back(arenas.of(member) + plan.buffers[start->output].offset);
                if (messages == nullptr || messages->is_local(member)) ++group.here;
            }
        }
        state.device.resize(plan.mesh.device_count());
        states_.push_back(std::move(state));
    }
}

void SharedMemory::use_library() {
    for (const State& state : states_)
        for (const std::vector<i64>& members : state.groups->members) messages_->use_library(members);
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
    const size_t position = device, number = state.groups->group[position], rank = state.groups->rank[position];
    GroupState& group = state.group[number];
    internal_check(input == group.inputs[rank] && output == group.outputs[rank], "a collective of other buffers");
    if (is_split(group))
        messages_->start(
            collective, device, [&](size_t member) { return share_of(state, number, member); }, rank);
    bool complete = false;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        DeviceState& own = state.device[position];
        own.round = group.rounds;
        own.share_done = own.finished = false;
        complete = ++group.arrived == group.here;
    }
    if (complete) wake_others(*state.groups, device);
}

bool SharedMemory::wait(int collective, int device) {
    State& state = states_[collective];
    const size_t position = device, number = state.groups->group[position];
    GroupState& group = state.group[number];
    DeviceState& own = state.device[position];
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (group.rounds > own.round) return true;
        if (own.finished || group.arrived < group.here) return false;
    }
    // All have arrived and this share is missing: the group's operands cannot change now.
    const bool split = is_split(group);
    if (!own.share_done) {
        if (split && !messages_->operands_here(collective, device)) return false;
        own.wire_bytes += split ? messages_->carry_out(collective, device) : carry_out(state, number, device);
        own.share_done = true;
    }
    if (split && !messages_->results_here(collective, device)) return false;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        own.finished = true;
        if (++group.finished < group.here) return false;
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

Share SharedMemory::share_of(const State& state, size_t number, size_t rank) const {
    const Buffer& input = plan_.buffers[state.start->input];
    const Buffer& output = plan_.buffers[state.start->output];
    const GroupState& group = state.group[number];
    return {plan_.mesh,   state.start->collective, state.groups->members[number],  rank,
            group.inputs, group.outputs,           {input.dtype, input.shape, {}}, {output.dtype, output.shape, {}}};
}

i64 SharedMemory::carry_out(const State& state, size_t number, int device) const {
    ArenaTraffic traffic(arenas_.of(device), arenas_.bytes());
    carry_out_share(share_of(state, number, state.groups->rank[static_cast<size_t>(device)]), traffic);
    return traffic.wire_bytes();
}

void SharedMemory::wake_others(const Groups& groups, int device) {
    for (i64 member : groups.members[groups.group[device]])
        if (member != device && (messages_ == nullptr || messages_->is_local(member))) wake_(static_cast<int>(member));
}

} // namespace shard
