// Algorithm, which the executor carries out and the bytes below count. A group has n devices; part r of a buffer of
// `count` elements is the element range [r*count/n, (r+1)*count/n).
//   1. device r reads part r of the n-1 other buffers and reduces the n parts in rank order 0, 1, ..., n-1;
//   2. every device reads the reduced part of each of the n-1 others.
// Each step moves every part n-1 times, so a group moves 2*(n-1)*bytes exactly, also where parts are uneven.
// data 2, model 4, all_reduce of 16 KiB over model: 2 groups * 2 * 3 * 16384 = 196608 bytes, 24576 a device.
#include "plans/collective/collective_cost.h"
#include "plans/collective/collective_data.h"

namespace shard {

namespace {

TensorType after(const Collective&, const TensorType& before) { return before; }

i64 wire_bytes_total(const Collective& collective, const Mesh& mesh, i64 local_bytes) {
    return multiply_saturating(2 * (group_size(collective) - 1) * group_count(collective, mesh), local_bytes);
}

double seconds(const Collective& collective, const Mesh& mesh, const Hardware& hardware, i64 local_bytes) {
    return all_reduce_seconds(mesh, hardware, collective.axes, static_cast<double>(local_bytes));
}

DeviceBuffers meaning(const Collective& collective, const Mesh& mesh, const TensorType&, const DeviceBuffers& buffers) {
    DeviceBuffers result;
    for (i64 position = 0; position < mesh.device_count(); ++position) {
        result.push_back(reduced_over_group(collective, mesh, position, buffers));
    }
    return result;
}

} // namespace

const CollectiveDef& collective_all_reduce() {
    static const CollectiveDef def = {
        .name = "all_reduce",
        .doc = "Combines a partial value of every device of a group; before, each device holds a partial sum (or max, "
               "...) of its block, after, each holds the whole of its block: [data | -] U{model} -> [data | -].",
        .uses = {.reduce = true},
        .result_word = "reduced",
        .after = after,
        .wire_bytes_total = wire_bytes_total,
        .seconds = seconds,
        .meaning = meaning,
    };
    return def;
}

} // namespace shard
