// Ops of manual regions: what makes them depend on the device, or on other devices. Their attribute `over` names mesh
// axes that the region is manual over; devices that differ only along these are a group, and a device's rank in it
// counts the axes row-major in the order written. Sources: jax.lax parallel operators.
//
//     {psum: x, over: i}      varies over i -> does not: every device of a group holds the sum
#pragma once

#include "planner/graph/chain.h"

namespace shard {

struct DeviceOp {
    // Over which axes the result varies, given those over which the operands vary.
    //   drops  the operands must vary over the group's axes (else they are taken to), the result does not
    //   keeps  the operands must, and the result does
    //   adds   the result does, whatever the operands
    enum class Varying { drops, keeps, adds } varying = Varying::keeps;
    // The collective that carries it out: its kind, reduction and moves; the group is filled in. nullptr: nothing is
    // sent, the kernel of `lower` says all.
    Collective (*collective)(const Attributes&) = nullptr;
    // The definition in plain ops: from the group's operands, by rank, the group's results. Ops without operands get
    // an empty list. Verification computes by it what the collective computes.
    std::vector<ValueId> (*meaning)(Chain&, std::span<const ValueId> members, const Attributes&) = nullptr;
    // to_local and from_local. They say themselves over which axes the local side varies: the attribute `mesh_axes`.
    enum class Border { none, enters, leaves } border = Border::none;
    // The dim of which each device of the group keeps its block; of ops that do this and send nothing.
    i64 (*own_block_of)(const Attributes&) = nullptr;
    // A cast: on every device the result is the operand, and only the axes over which it varies are others.
    bool casts = false;
    // What it comes to where every device of the group has the same x: what to write instead, in words. Empty: nothing
    // simpler is known.
    std::string (*of_equal)(std::string_view x, const Attributes&) = nullptr;
    // `collective` the other way round, for one of at most one move: the attributes beside `over` with which the op is
    // carried out by it, "dim: 0, tiled: true". nullopt: it carries out another. nullptr: of no collective.
    std::optional<std::string> (*written)(const Collective&) = nullptr;
};
inline const DeviceOp* device_op(const Node& node) { return node.op() == nullptr ? nullptr : node.op()->device; }

// Of an op with the attribute `over`.
i64 group_size(const Attributes& attributes);
std::vector<AxisRef> group_axes(const Attributes& attributes);
// The attributes of another op over the same axes.
Attributes over_same(const Attributes& attributes, NamedValues others = {});

} // namespace shard
