// Where each element of a device's buffer comes from in a collective that moves blocks: shared by the meanings of
// all_gather, all_to_all and reduce_scatter, and the arithmetic of groups that their byte counts share.
#pragma once

#include "plans/collective/collective.h"

namespace shard {

using DeviceBuffers = std::vector<std::vector<double>>; // one per device, by position; row-major

// Of the local type before: dims that lose axes grow by them, dims that gain axes shrink.
TensorType moved_type(const Collective& collective, const TensorType& before);

// Calls visit(out_element, source_position, in_element) for every element that the device at `position` holds after the
// move.
template<class Visit>
void for_each_moved(const Collective& collective, const Mesh& mesh, const TensorType& before, i64 position,
                    Visit visit);

// Devices of one group, and groups in the mesh.
inline i64 group_size(const Collective& collective) { return total_size(collective.axes); }
inline i64 group_count(const Collective& collective, const Mesh& mesh) {
    return mesh.device_count() / group_size(collective);
}

// Of two numbers, by the definition of the reduction.
double combine(ReduceOp op, double a, double b);
// Element-wise over all devices of the group of `position`, in rank order.
std::vector<double> reduced_over_group(const Collective& collective, const Mesh& mesh, i64 position,
                                       const DeviceBuffers& buffers);

// Devices of one group that a collective_permute leaves with their own buffer.
i64 unmoved_devices(const Collective& collective, const Mesh& mesh);
// For collective_permute: the position whose buffer the device at `position` receives; -1: none, it gets zeros.
i64 permute_source(const Collective& collective, const Mesh& mesh, i64 position);

template<class Visit>
void for_each_moved(const Collective& collective, const Mesh& mesh, const TensorType& before, i64 position,
                    Visit visit) {
    const Shape after = moved_type(collective, before).shape;
    const std::vector<i64> own = coordinates_of(mesh, position);
    const std::vector<i64> strides = row_major_strides(before.shape);
    const i64 count = element_count(after);
    for (i64 out = 0; out < count; ++out) {
        std::vector<i64> index(after.size());
        i64 rest = out;
        for (size_t d = after.size(); d-- > 0;) {
            index[d] = rest % after[d];
            rest /= after[d];
        }
        std::vector<i64> source = own;
        for (const AxisMove& move : collective.moves) {
            if (move.from >= 0) { // the block number along the grown dim names the device it comes from
                size_t d = move.from;
                set_linear_coordinate(mesh, source, move.axes, index[d] / before.shape[d]);
                index[d] %= before.shape[d];
            }
            if (move.to >= 0) { // the device's own block of the shrunk dim
                size_t d = move.to;
                index[d] += linear_coordinate(mesh, own, move.axes) * after[d];
            }
        }
        i64 in = 0;
        for (size_t d = 0; d < index.size(); ++d) in += index[d] * strides[d];
        visit(out, position_of(mesh, source), in);
    }
}

} // namespace shard
