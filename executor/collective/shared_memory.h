// Collectives between arenas of one process; of groups with members in other processes, together with the messages to
// and from them (executor/collective/messages.h). A device's share of a collective is one task of its own program, taken
// when all devices of its group have started: it produces its own result by reading the others' inputs, and for
// all_reduce it reduces part rank of n and writes it to everyone's output, block by block, while the block is in cache.
// The collective is complete when every share is done: until then inputs are read and outputs written by others.
//
// Who owns what: the groups' state belongs to `mutex_`. The mutex also orders memory: a share reads inputs after their
// devices posted them, and a device goes on after all shares were reported.
#pragma once

#include "executor/collective/messages.h"
#include "executor/collective/share.h"
#include "executor/devices/arenas.h"
#include "executor/devices/backend.h"
#include "executor/devices/program.h"

#include <functional>
#include <memory>
#include <mutex>

namespace shard {

// The devices of a mesh in groups along some axes.
struct Groups {
    std::vector<std::vector<i64>> members; // positions in rank order
    std::vector<size_t> group;             // by position
    std::vector<size_t> rank;              // by position
};
Groups groups_along(const Mesh& mesh, std::span<const AxisRef> axes);

class SharedMemory final : public Backend {
public:
    // `wake` is told the position of a device of this process. `messages` is there if others hold some.
    SharedMemory(const Plan& plan, const Program& program, const Arenas& arenas, std::function<void(int)> wake,
                 Messages* messages = nullptr);
    // The groups that may use the library's own collectives do; every rank calls it at the same point.
    void use_library();
    void start(int collective, int device, const std::byte* input, std::byte* output) override;
    bool wait(int collective, int device) override;
    i64 wire_bytes(int collective) const override;

    // What an object of these will allocate.
    static i64 required_bytes(const Mesh& mesh, const Program& program);

private:
    struct GroupState {
        std::vector<const std::byte*> inputs; // by rank
        std::vector<std::byte*> outputs;
        size_t here = 0; // members in this process
        i64 rounds = 0;  // completed collectives: a loop starts one again
        size_t arrived = 0, finished = 0;
    };
    struct DeviceState {
        i64 round = 0; // the round that this device posted for
        bool share_done = false, finished = false;
        i64 wire_bytes = 0;
    };
    struct State {
        const Start* start = nullptr;
        std::shared_ptr<const Groups> groups;
        std::vector<GroupState> group;
        std::vector<DeviceState> device; // by position
    };
    bool is_split(const GroupState& group) const { return group.here < group.inputs.size(); }
    Share share_of(const State& state, size_t group, size_t rank) const;
    i64 carry_out(const State& state, size_t group, int device) const;
    void wake_others(const Groups& groups, int device);

    const Plan& plan_;
    const Arenas& arenas_;
    std::function<void(int)> wake_;
    Messages* messages_;
    std::mutex mutex_;
    std::vector<State> states_;
};

} // namespace shard
