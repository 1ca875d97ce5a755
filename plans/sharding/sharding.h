// How one value is laid out over the mesh.
//
// Text form, per dim the axes major to minor: "[data | model? | -]"
//
//     -              replicated
//     ?              open: propagation may extend it
//     @p             a priority
//     U{model}       behind the dims: partial, an unreduced sum; U{model:max} of another reduction
//     R{data}        behind the dims: replicated because somebody said so
#pragma once

#include "plans/sharding/mesh.h"
#include "plans/sharding/type.h"

namespace shard {

// How partial values of several devices, or elements, become one.
enum class ReduceOp { sum, prod, max, min };
std::string_view name(ReduceOp op); // "sum"
std::optional<ReduceOp> parse_reduce_op(std::string_view text);

struct DimSharding {
    std::vector<AxisRef> axes; // major to minor
    bool open = false;         // propagation may add axes
    int priority = 0;          // 0 spreads first
    bool operator==(const DimSharding&) const = default;
};

// Invariants: one entry in dims per dim; an axis (or sub-axis) at most once over dims, replicated and partial;
// replicated and partial in mesh order.
struct Sharding {
    std::vector<DimSharding> dims;
    std::vector<AxisRef> replicated; // propagation may not use these on this value
    std::vector<AxisRef> partial;    // the value is the `reduce` over these axes of what the devices hold
    ReduceOp reduce = ReduceOp::sum;
    bool operator==(const Sharding&) const = default;
};

Sharding open_sharding(int rank);                         // every dim empty and open
Sharding replicated_sharding(int rank);                   // every dim empty and closed
bool is_fully_replicated(const Sharding& sharding);       // no axes on dims, nothing partial
i64 shard_count(const DimSharding& dim);                  // product of the axis sizes
std::vector<AxisRef> used_axes(const Sharding& sharding); // over dims, replicated and partial; in that order

// True if every dim's shard count divides it.
bool divides(const Shape& shape, const Sharding& sharding);
// The shape one device holds; dims must divide.
Shape local_shape(const Shape& shape, const Sharding& sharding);
// Start of the local block of the device at `coordinates`, in elements per dim.
std::vector<i64> local_start(const Mesh& mesh, const Shape& shape, const Sharding& sharding,
                             std::span<const i64> coordinates);
// Same layout, ignoring open flags and priorities.
bool same_layout(const Sharding& a, const Sharding& b);
// Closes every dim, drops priorities and explicit replication.
Sharding closed(const Sharding& sharding);

std::string text(const Mesh& mesh, const Sharding& sharding);                    // the text form above
std::optional<Sharding> parse_sharding(const Mesh& mesh, std::string_view text); // the inverse of text()
// List form as in files: "[data, ~]" per dim a name, a list or ~; what can be written into a layout.
std::string spec_text(const Mesh& mesh, const Sharding& sharding);

} // namespace shard
