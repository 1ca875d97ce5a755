// Algorithm: every device reads from each of the n-1 other devices of its group the 1/n of their buffers that falls
// into its new block, so a group moves (n-1)*bytes exactly, bytes being those of a buffer (as large before as after).
#include "plans/collective/collective_cost.h"
#include "plans/collective/collective_data.h"

namespace shard {

namespace {

i64 wire_bytes_total(const Collective& collective, const Mesh& mesh, i64 local_bytes) {
    return multiply_saturating((group_size(collective) - 1) * group_count(collective, mesh), local_bytes);
}

double seconds(const Collective& collective, const Mesh& mesh, const Hardware& hardware, i64 local_bytes) {
    return all_to_all_seconds(mesh, hardware, collective.axes,
                              static_cast<double>(local_bytes) * static_cast<double>(group_size(collective)));
}

DeviceBuffers meaning(const Collective& collective, const Mesh& mesh, const TensorType& before,
                      const DeviceBuffers& buffers) {
    return collective_with({.from = true})->meaning(collective, mesh, before, buffers); // the moves say all
}

} // namespace

const CollectiveDef& collective_all_to_all() {
    static const CollectiveDef def = {
        .name = "all_to_all",
        .doc = "Moves the axes of a group from one dim to another: each device gives up blocks of the dim that shrinks "
               "for blocks of the dim that grows: [model | -] -> [- | model].",
        .uses = {.from = true, .to = true},
        .result_word = "exchanged",
        .after = moved_type,
        .wire_bytes_total = wire_bytes_total,
        .seconds = seconds,
        .meaning = meaning,
    };
    return def;
}

} // namespace shard
