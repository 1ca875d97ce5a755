// A sharding as XLA's partitioner sees it: of each dim a number of blocks, and which device has which block. Here the
// blocks of a dim are numbered by axes, major to minor, and what no dim uses says which devices hold the same.
#pragma once

#include "plans/sharding/sharding.h"

#include <optional>

namespace shard {

struct XlaTiles {
    std::vector<std::vector<AxisRef>> dims; // major to minor; of a dim that is looked at in parts, one for each part
    std::vector<size_t> of;                 // by entry of `dims`: the value's dim
    std::vector<AxisRef> copies;            // in the order of the mesh

    i64 count(size_t dim) const { return total_size(dims[dim]); }
    i64 copy_count() const { return total_size(copies); }
    bool is_whole() const; // no dim is split
    bool operator==(const XlaTiles&) const = default;
};

XlaTiles tiles_of(const Mesh& mesh, const Sharding& sharding); // of one without partial axes
Sharding sharding_of(const XlaTiles& tiles, size_t rank);

// The major axes of a list that number `blocks` blocks, and the rest; nullopt if no cut of an axis gives this number.
struct AxisCut {
    std::vector<AxisRef> major, minor;
};
std::optional<AxisCut> cut_at(std::span<const AxisRef> axes, i64 blocks);

enum class XlaStepKind { permute, all_to_all, slice, all_gather };
struct XlaStep {
    XlaStepKind kind;
    XlaTiles after;
    bool gathers_all = false; // as the last resort
};

// From one to the other; nullopt only if an axis cannot be cut as XLA cuts its list of devices.
std::optional<std::vector<XlaStep>> xla_steps(const Mesh& mesh, const XlaTiles& from, const XlaTiles& to);

} // namespace shard
