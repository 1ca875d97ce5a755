// Algorithm: every device reads the whole buffer of the one device whose block it holds afterwards. A device that is
// its own source copies locally and moves nothing over the wire: a swap of two axes of 2 moves 2 of 4 buffers.
#include "plans/base/saturating.h"
#include "plans/collective/collective_data.h"
#include "plans/collective/message_cost.h"
#include "plans/sharding/axis_lists.h"

#include <algorithm>

namespace shard {

namespace {

TensorType after(const Collective&, const TensorType& before) { return before; }

i64 wire_bytes_total(const Collective& collective, const Mesh& mesh, i64 local_bytes) {
    return multiply_saturating(
        (group_size(collective) - unmoved_devices(collective, mesh)) * group_count(collective, mesh), local_bytes);
}

// Whether every device is its own source: both orders number the group alike, however they are cut.
bool is_identity(const Collective& collective) {
    if (is_pairwise(collective)) {
        const auto stays = [](const std::pair<i64, i64>& pair) { return pair.first == pair.second; };
        return std::all_of(collective.pairs.begin(), collective.pairs.end(), stays);
    }
    const auto numbering = [](std::span<const AxisRef> order) {
        std::vector<AxisRef> whole;
        for (const AxisRef& ref : order)
            if (ref.size > 1) append_axis(whole, ref);
        return whole;
    };
    return numbering(collective.source_order) == numbering(collective.target_order);
}

double seconds(const Collective& collective, const Mesh& mesh, const Hardware& hardware, i64 local_bytes) {
    const double bytes = static_cast<double>(local_bytes);
    if (is_identity(collective)) return 0;
    if (!is_pairwise(collective)) return farthest_message_seconds(mesh, hardware, collective.axes, bytes);
    std::vector<i64> senders(static_cast<size_t>(group_size(collective)), -1); // by the receiver's rank
    for (const auto& [source, destination] : collective.pairs) senders[destination] = source;
    const auto source = [&](i64 position) {
        std::vector<i64> coordinates = coordinates_of(mesh, position);
        const i64 sender = senders[linear_coordinate(mesh, coordinates, collective.axes)];
        if (sender < 0) return sender;
        set_linear_coordinate(mesh, coordinates, collective.axes, sender);
        return position_of(mesh, coordinates);
    };
    return message_seconds(mesh, hardware, collective.axes, source, bytes);
}

DeviceBuffers meaning(const Collective& collective, const Mesh& mesh, const TensorType&, const DeviceBuffers& buffers) {
    DeviceBuffers result;
    for (i64 position = 0; position < mesh.device_count(); ++position) {
        const i64 source = permute_source(collective, mesh, position);
        if (source < 0)
            result.emplace_back(buffers[position].size(), 0.0);
        else
            result.push_back(buffers[source]);
    }
    return result;
}

} // namespace

const CollectiveDef& collective_collective_permute() {
    static const CollectiveDef def = {
        .name = "collective_permute",
        .doc = "Every device passes its block on to one other device, so that the blocks are numbered by other axes or "
               "by the same in another order: [data | -] -> [model | -].",
        .uses = {.orders = true},
        .result_word = "permuted",
        .after = after,
        .wire_bytes_total = wire_bytes_total,
        .seconds = seconds,
        .meaning = meaning,
    };
    return def;
}

} // namespace shard
