#include "planner/ops_support/device.h"

#include <fmt/format.h>

namespace shard {

namespace {

Collective collective(const Attributes&) {
    Collective made;
    made.def = find_collective("all_reduce");
    made.reduce = ReduceOp::max;
    return made;
}

std::optional<std::string> written(const Collective& made) { return written_reduction(made, ReduceOp::max); }

std::vector<ValueId> meaning(Chain& chain, std::span<const ValueId> members, const Attributes&) {
    return std::vector<ValueId>(members.size(), combined(chain, "max", members));
}

std::string of_equal(std::string_view x, const Attributes&) { return fmt::format("pmax of it is {}", x); }

} // namespace

const OpDef& op_pmax() {
    static const DeviceOp device = {.varying = DeviceOp::Varying::drops,
                                    .collective = collective,
                                    .meaning = meaning,
                                    .of_equal = of_equal,
                                    .written = written};
    static const OpDef def = all_reduce_op(
        "pmax",
        "In a manual region: the maximum of x over the devices along mesh axes, element by element, on each of "
        "them.\n{pmax: x, over: i}",
        device, group_extremum_gradient);
    return def;
}

} // namespace shard
