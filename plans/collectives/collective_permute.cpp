// Algorithm: every device reads the whole buffer of the one device whose block it holds afterwards. A device that is
// its own source copies locally and moves nothing over the wire: a swap of two axes of 2 moves 2 of 4 buffers.
#include "plans/collective/collective_cost.h"
#include "plans/collective/collective_data.h"

#include <algorithm>

namespace shard {

namespace {

TensorType after(const Collective&, const TensorType& before) { return before; }

i64 wire_bytes_total(const Collective& collective, const Mesh& mesh, i64 local_bytes) {
    return multiply_saturating(
        (group_size(collective) - unmoved_devices(collective, mesh)) * group_count(collective, mesh), local_bytes);
}

// A block may have to travel to the far end of every axis: half way round one that wraps.
double seconds(const Collective& collective, const Mesh& mesh, const Hardware& hardware, i64 local_bytes) {
    if (unmoved_devices(collective, mesh) == group_size(collective)) return 0;
    i64 hops = 0;
    for (const AxisRef& ref : collective.axes) {
        i64 stride = mesh.axes[ref.axis].size / (ref.pre * ref.size);
        hops += wraps(mesh, hardware, ref) ? ref.size / 2 : (ref.size - 1) * stride;
    }
    return send_seconds(mesh, hardware, collective.axes, hops, static_cast<double>(local_bytes));
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
