// Algorithm: the n-1 other devices of a group read the root's buffer, so a group moves (n-1)*bytes exactly.
#include "plans/collective/collective_cost.h"
#include "plans/collective/collective_data.h"

namespace shard {

namespace {

TensorType after(const Collective&, const TensorType& before) { return before; }

i64 wire_bytes_total(const Collective& collective, const Mesh& mesh, i64 local_bytes) {
    return multiply_saturating((group_size(collective) - 1) * group_count(collective, mesh), local_bytes);
}

// Pipelined along the links, the value crosses each of them once.
double seconds(const Collective& collective, const Mesh& mesh, const Hardware& hardware, i64 local_bytes) {
    return gather_seconds(mesh, hardware, collective.axes, static_cast<double>(local_bytes));
}

DeviceBuffers meaning(const Collective& collective, const Mesh& mesh, const TensorType&, const DeviceBuffers& buffers) {
    DeviceBuffers result;
    for (i64 position = 0; position < mesh.device_count(); ++position) {
        std::vector<i64> group = group_of(mesh, position, collective.axes);
        result.push_back(buffers[group[collective.root]]);
    }
    return result;
}

} // namespace

const CollectiveDef& collective_broadcast() {
    static const CollectiveDef def = {
        .name = "broadcast",
        .doc = "Gives every device of a group the buffer of one of them, the root.",
        .uses = {.root = true},
        .after = after,
        .wire_bytes_total = wire_bytes_total,
        .seconds = seconds,
        .meaning = meaning,
    };
    return def;
}

} // namespace shard
