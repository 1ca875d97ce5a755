#include "executor/run/restore_from_first.h"

#include "executor/checkpoint/checkpoint.h"
#include "plans/plan/real_part.h"

namespace shard {

namespace {

constexpr const char* what = "the checkpoint's parts";

std::vector<const Buffer*> restored_buffers(const Plan& plan, const RunOptions& options) {
    std::vector<const Buffer*> buffers;
    for (const PlanInput& input : plan.inputs)
        if (options.restored_by_first.contains(plan.buffers[input.buffer].name))
            buffers.push_back(&plan.buffers[input.buffer]);
    return buffers;
}

} // namespace

// A device's blocks at a time, so that the first rank needs the memory of one device more.
bool restore_from_first(const Plan& plan, const RunOptions& options, std::span<Device> devices, std::string& problem) {
    Ranks& ranks = *options.ranks;
    const std::vector<const Buffer*> buffers = restored_buffers(plan, options);
    const i64 count = plan.mesh.device_count();
    if (!ranks.is_first()) {
        for (Device& device : devices) {
            int left = static_cast<int>(buffers.size());
            for (const Buffer* buffer : buffers)
                ranks.receive(0, Ranks::first_tag, device.touch(*buffer), buffer->bytes, [&left] { --left; });
            ranks.wait_for(left, what);
        }
        return true;
    }
    bool fine = true;
    for (i64 position = ranks.held(count); position < count; ++position) {
        std::vector<std::vector<std::byte>> blocks;
        for (const Buffer* buffer : buffers) {
            const std::vector<i64> start = real_part(plan.mesh, *buffer, coordinates_of(plan.mesh, position)).start;
            blocks.emplace_back(buffer->bytes);
            fine = fine && options.restore->read(*buffer, start, blocks.back().data(), problem);
        }
        int left = static_cast<int>(blocks.size());
        for (const std::vector<std::byte>& block : blocks)
            ranks.send(ranks.holder(position, count), Ranks::first_tag, block.data(), std::ssize(block),
                       [&left] { --left; });
        ranks.wait_for(left, what);
    }
    return fine;
}

} // namespace shard
