#include "planner/ops_support/device.h"

namespace shard {

namespace {

Collective collective(const Attributes&) {
    Collective made;
    made.def = find_collective("all_reduce");
    made.reduce = ReduceOp::max;
    return made;
}

std::vector<ValueId> meaning(Chain& chain, std::span<const ValueId> members, const Attributes&) {
    return std::vector<ValueId>(members.size(), combined(chain, "max", members));
}

} // namespace

const OpDef& op_pmax() {
    static const DeviceOp device = {DeviceOp::Varying::drops, collective, meaning};
    static const OpDef def = all_reduce_op(
        "pmax",
        "In a manual region: the maximum of x over the devices along mesh axes, element by element, on each of "
        "them.\n{pmax: x, over: i}",
        device, group_extremum_gradient);
    return def;
}

} // namespace shard
