#include "tests/support/carry_out.h"

#include "planner/redistribute/redistribute.h"
#include "tests/support/blocks.h"

#include <algorithm>

namespace shard {

Carried carry_out(const Mesh& mesh, const Shape& shape, const Sharding& from, const Redistribution& redistribution) {
    Carried at{blocks_of(mesh, shape, from), from, 0, 0};
    for (const RedistributionStep& step : redistribution.steps) {
        TensorType local = f32_type(local_shape(shape, at.sharding));
        if (step.collective) {
            at.wire_bytes += step.collective->def->wire_bytes_total(*step.collective, mesh, local.bytes());
            at.buffers = step.collective->def->meaning(*step.collective, mesh, local, at.buffers);
            at.sharding = sharding_after(*step.collective, at.sharding);
        } else { // a slice is a move to a dim in which every device keeps its own block
            Collective own{nullptr, {}, ReduceOp::sum, {step.slice}, {}, {}, 0};
            DeviceBuffers after(at.buffers.size());
            for (i64 position = 0; position < mesh.device_count(); ++position) {
                std::vector<double>& out = after[position];
                out.resize(static_cast<size_t>(moved_type(own, local).elements()));
                for_each_moved(own, mesh, local, position,
                               [&](i64 to, i64 source, i64 element) { out[to] = at.buffers[source][element]; });
            }
            at.buffers = std::move(after);
            at.sharding = sharding_after(own, at.sharding);
        }
        at.most_bytes = std::max(at.most_bytes, f32_type(local_shape(shape, at.sharding)).bytes());
    }
    return at;
}

} // namespace shard
