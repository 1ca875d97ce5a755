#include "executor/run/gather_outputs.h"

#include "executor/elements/strided.h"
#include "executor/run/host.h"
#include "plans/base/crc32.h"
#include "plans/plan/real_part.h"

#include <algorithm>
#include <cstring>

namespace shard {

namespace {

// Who holds a block first, by its start.
class Holders {
public:
    Holders(const Mesh& mesh, const Buffer& buffer) {
        for (i64 position = 0; position < mesh.device_count(); ++position) {
            parts_.push_back(real_part(mesh, buffer, coordinates_of(mesh, position)));
            first_.emplace(parts_.back().start, position);
        }
    }
    const RealPart& part(i64 position) const { return parts_[position]; }
    i64 first(i64 position) const { return first_.at(parts_[position].start); }

private:
    std::vector<RealPart> parts_;
    std::map<std::vector<i64>, i64> first_;
};

// What a rank holds, in the order of positions.
std::string message_of(const Buffer& buffer, const Holders& holders, std::span<const Device> devices) {
    std::string message;
    for (const Device& device : devices) {
        const std::string_view bytes(reinterpret_cast<const char*>(device.data(buffer)), buffer.bytes);
        if (holders.first(device.position()) == device.position()) {
            message += bytes;
        } else {
            const std::uint32_t sum = crc32_of(bytes);
            message.append(reinterpret_cast<const char*>(&sum), sizeof sum);
        }
    }
    return message;
}

// The tensor, from the messages of all ranks. The first two positions whose bytes of one block differ.
std::optional<std::pair<i64, i64>> assemble(const Plan& plan, const Buffer& buffer, const Holders& holders,
                                            const Ranks& ranks, const std::vector<std::string>& messages,
                                            Tensor& tensor) {
    const i64 devices = plan.mesh.device_count();
    std::vector<size_t> read(messages.size(), 0);
    std::map<i64, std::uint32_t> sums; // by the position that holds the block first
    std::optional<std::pair<i64, i64>> differ;
    for (i64 position = 0; position < devices; ++position) {
        const size_t rank = ranks.holder(position, devices);
        const i64 first = holders.first(position);
        const size_t bytes = first == position ? buffer.bytes : sizeof(std::uint32_t);
        const std::string_view part = std::string_view(messages[rank]).substr(read[rank], bytes);
        internal_check(part.size() == bytes, "a rank sends less than it holds");
        read[rank] += bytes;
        const RealPart& real = holders.part(position);
        if (real.empty()) continue;
        if (first == position) {
            sums[position] = crc32_of(part);
            const i64 at = flat_index(buffer.real_shape(), real.start) * byte_size(buffer.dtype);
            copy_strided(tensor.bytes.data() + at, reinterpret_cast<const std::byte*>(part.data()),
                         byte_size(buffer.dtype), box_copy(real.shape, buffer.real_shape(), buffer.shape));
            continue;
        }
        std::uint32_t sum = 0;
        std::memcpy(&sum, part.data(), sizeof sum);
        if (sum != sums.at(first) && !differ) differ = {first, position};
    }
    return differ;
}

} // namespace

bool gather_outputs(const Plan& plan, std::span<const Device> devices, Ranks& ranks,
                    std::map<std::string, Tensor>& outputs, Diagnostics& diagnostics) {
    for (const PlanOutput& output : plan.outputs) {
        const Buffer& buffer = plan.buffers[output.buffer];
        const Holders holders(plan.mesh, buffer);
        const std::optional<std::string> reply =
            ranks.meet("the outputs", message_of(buffer, holders, devices), [&](std::vector<std::string>& messages) {
                Tensor& tensor = outputs[output.name];
                tensor.type = {buffer.dtype, buffer.real_shape(), {}};
                tensor.bytes.resize(tensor.type.bytes());
                const std::optional<std::pair<i64, i64>> differ =
                    assemble(plan, buffer, holders, ranks, messages, tensor);
                if (differ) report_difference(plan, buffer, differ->first, differ->second, diagnostics);
                return std::string(differ ? "differ" : "");
            });
        if (!reply || !reply->empty()) return false;
    }
    return true;
}

} // namespace shard
