#include "executor/run/required_bytes.h"

#include "executor/collective/shared_memory.h"
#include "executor/devices/arenas.h"
#include "executor/devices/device.h"
#include "executor/devices/scheduler.h"
#include "plans/base/saturating.h"

#include <algorithm>

namespace shard {

namespace {

constexpr i64 pointer_bytes = static_cast<i64>(sizeof(void*));
constexpr i64 block_bytes = 2 * pointer_bytes; // that malloc adds to a block, rounding included

i64 array_bytes(i64 count) { return count == 0 ? 0 : count * pointer_bytes + block_bytes; }

i64 result_bytes(const Plan& plan, bool returns_initial) {
    i64 bytes = 0;
    for (const PlanOutput& output : plan.outputs) {
        const Buffer& buffer = plan.buffers[output.buffer];
        const i64 copies = returns_initial && output.is_update() ? 2 : 1;
        bytes = add_saturating(bytes, copies * element_count(buffer.real_shape()) * byte_size(buffer.dtype));
    }
    return bytes;
}

// While an output is assembled: a node of a map by block, with the block's start.
i64 output_bytes(const Plan& plan) {
    i64 most = 0;
    for (const PlanOutput& output : plan.outputs)
        most = std::max(most, std::ssize(plan.buffers[output.buffer].real_shape()));
    return 8 * pointer_bytes + block_bytes + 2 * array_bytes(most);
}

} // namespace

i64 bookkeeping_bytes(const Plan& plan, std::optional<i64> held) {
    const i64 devices = held.value_or(plan.mesh.device_count());
    const Program program = flatten(plan);
    const i64 each = static_cast<i64>(sizeof(Device) + sizeof(std::string)) + Scheduler::bytes_per_device +
                     array_bytes(std::ssize(plan.mesh.axes)) + array_bytes(program.loop_indices) + output_bytes(plan);
    return add_saturating(multiply_saturating(devices, each), SharedMemory::required_bytes(plan.mesh, program));
}

i64 required_bytes(const Plan& plan, bool returns_initial, std::optional<i64> held) {
    const i64 devices = held.value_or(plan.mesh.device_count());
    if (devices > std::numeric_limits<int>::max()) return most_required_bytes;
    const i64 bytes = add_saturating(Arenas::total_bytes(devices, memory_bytes(plan)), bookkeeping_bytes(plan, held));
    return std::min(add_saturating(bytes, result_bytes(plan, returns_initial)), most_required_bytes);
}

i64 verified_bytes(const Plan& plan, const Plan& reference) {
    i64 compared = 0;
    for (const PlanOutput& output : reference.outputs) {
        const i64 copies = output.is_update() ? 4 : 2; // what it was at first, too, and how far it may be off
        const i64 elements = element_count(reference.buffers[output.buffer].real_shape());
        compared = std::max(compared, multiply_saturating(copies * static_cast<i64>(sizeof(double)), elements));
    }
    const i64 held = add_saturating(result_bytes(plan, false), result_bytes(reference, true)),
              meanwhile = std::max(required_bytes(reference, true), compared);
    return std::min(add_saturating(held, meanwhile), most_required_bytes);
}

} // namespace shard
