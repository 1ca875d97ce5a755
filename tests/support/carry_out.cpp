#include "tests/support/carry_out.h"

#include "planner/redistribute/redistribute.h"
#include "tests/support/blocks.h"

#include <algorithm>

namespace shard {

namespace {

// Each device's own block of the dim, zeros where the blocks of others are.
void place_among_zeros(const Mesh& mesh, const Shape& shape, const RedistributionStep& step, Carried& at) {
    const Shape block = local_shape(shape, at.sharding);
    at.sharding = sharding_after(step, at.sharding);
    const Shape whole = local_shape(shape, at.sharding);
    const std::vector<i64> strides = row_major_strides(whole), in_strides = row_major_strides(block);
    for (i64 position = 0; position < mesh.device_count(); ++position) {
        std::vector<double> out(static_cast<size_t>(element_count(whole)), 0.0);
        const std::vector<double>& held = at.buffers[static_cast<size_t>(position)];
        const size_t dim = static_cast<size_t>(step.slice.from);
        const i64 start = linear_coordinate(mesh, coordinates_of(mesh, position), step.slice.axes) * block[dim];
        for (i64 e = 0; e < static_cast<i64>(held.size()); ++e) {
            i64 to = start * strides[dim];
            for (size_t d = 0; d < block.size(); ++d) to += e / in_strides[d] % block[d] * strides[d];
            out[static_cast<size_t>(to)] = held[static_cast<size_t>(e)];
        }
        at.buffers[static_cast<size_t>(position)] = std::move(out);
    }
}

} // namespace

Carried carry_out(const Mesh& mesh, const Shape& shape, const Sharding& from, const Redistribution& redistribution) {
    Carried at{blocks_of(mesh, shape, from), from, 0, 0};
    for (const RedistributionStep& step : redistribution.steps) {
        TensorType local = f32_type(local_shape(shape, at.sharding));
        if (step.collective) {
            at.wire_bytes += step.collective->def->wire_bytes_total(*step.collective, mesh, local.bytes());
            at.buffers = step.collective->def->meaning(*step.collective, mesh, local, at.buffers);
            at.sharding = sharding_after(*step.collective, at.sharding);
        } else if (step.slice.from >= 0) {
            place_among_zeros(mesh, shape, step, at);
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
