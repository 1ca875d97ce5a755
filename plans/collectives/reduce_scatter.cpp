// Algorithm: device r of a group reads block r of the n-1 other buffers and reduces the n blocks in rank order; a block
// is 1/n of the buffer, so a group moves (n-1)*bytes exactly, bytes being those of a buffer before. Several dims may be
// scattered at once.
#include "plans/collective/collective_cost.h"
#include "plans/collective/collective_data.h"

namespace shard {

namespace {

i64 wire_bytes_total(const Collective& collective, const Mesh& mesh, i64 local_bytes) {
    return multiply_saturating((group_size(collective) - 1) * group_count(collective, mesh), local_bytes);
}

double seconds(const Collective& collective, const Mesh& mesh, const Hardware& hardware, i64 local_bytes) {
    return gather_seconds(mesh, hardware, collective.axes, static_cast<double>(local_bytes));
}

DeviceBuffers meaning(const Collective& collective, const Mesh& mesh, const TensorType& before,
                      const DeviceBuffers& buffers) {
    DeviceBuffers result(buffers.size());
    for (i64 position = 0; position < mesh.device_count(); ++position) {
        std::vector<double> reduced = reduced_over_group(collective, mesh, position, buffers);
        std::vector<double>& out = result[position];
        out.resize(moved_type(collective, before).elements());
        for_each_moved(collective, mesh, before, position, [&](i64 to, i64, i64 from) { out[to] = reduced[from]; });
    }
    return result;
}

} // namespace

const CollectiveDef& collective_reduce_scatter() {
    static const CollectiveDef def = {
        .name = "reduce_scatter",
        .doc = "Combines a partial value of every device of a group and leaves each device one block of the result "
               "along the dims that gain the axes: [data | -] U{model} -> [data | model].",
        .uses = {.reduce = true, .to = true},
        .result_word = "scattered",
        .after = moved_type,
        .wire_bytes_total = wire_bytes_total,
        .seconds = seconds,
        .meaning = meaning,
    };
    return def;
}

} // namespace shard
