// Algorithm: every device reads the buffers of the n-1 other devices of its group into its larger buffer, so a group
// moves n*(n-1)*bytes exactly, bytes being those of a buffer before. Several dims may grow at once: one move a dim.
#include "plans/collective/collective_cost.h"
#include "plans/collective/collective_data.h"

namespace shard {

namespace {

i64 wire_bytes_total(const Collective& collective, const Mesh& mesh, i64 local_bytes) {
    i64 n = group_size(collective);
    return multiply_saturating(multiply_saturating(n - 1, mesh.device_count()), local_bytes);
}

double seconds(const Collective& collective, const Mesh& mesh, const Hardware& hardware, i64 local_bytes) {
    return gather_seconds(mesh, hardware, collective.axes,
                          static_cast<double>(local_bytes) * static_cast<double>(group_size(collective)));
}

DeviceBuffers meaning(const Collective& collective, const Mesh& mesh, const TensorType& before,
                      const DeviceBuffers& buffers) {
    DeviceBuffers result(buffers.size());
    for (i64 position = 0; position < mesh.device_count(); ++position) {
        std::vector<double>& out = result[position];
        out.resize(moved_type(collective, before).elements());
        for_each_moved(collective, mesh, before, position,
                       [&](i64 to, i64 source, i64 from) { out[to] = buffers[source][from]; });
    }
    return result;
}

} // namespace

const CollectiveDef& collective_all_gather() {
    static const CollectiveDef def = {
        .name = "all_gather",
        .doc = "Gives every device of a group the blocks of all of them, side by side along the dims that lose the "
               "axes: [data | model] -> [data | -].",
        .uses = {.from = true},
        .result_word = "gathered",
        .after = moved_type,
        .wire_bytes_total = wire_bytes_total,
        .seconds = seconds,
        .meaning = meaning,
    };
    return def;
}

} // namespace shard
