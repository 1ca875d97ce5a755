#include "planner/ops_support/device.h"

namespace shard {

namespace {

InferResult infer(const InferContext&) { return InferResult{{make_type(DType::i32, {})}}; }

bool splits(std::span<const TensorType>, const Attributes&) { return true; }
std::optional<ValueId> expand(Builder& builder, std::span<const ValueId>, const Attributes& attributes) {
    return builder.number(static_cast<double>(group_size(attributes)), DType::i32);
}

} // namespace

const OpDef& op_axis_size() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "axis_size";
        made.doc = "In a manual region: how many devices there are along mesh axes.\n{axis_size: i}";
        made.operands = {0, 0};
        made.attributes = {over_attribute()};
        made.subject = "over";
        made.infer = infer;
        made.splits = splits;
        made.expand = expand;
        return made;
    }();
    return def;
}

} // namespace shard
