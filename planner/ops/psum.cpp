#include "planner/ops_support/device.h"

#include <fmt/format.h>

namespace shard {

namespace {

Collective collective(const Attributes&) {
    Collective made;
    made.def = find_collective("all_reduce");
    return made;
}

std::optional<std::string> written(const Collective& made) { return written_reduction(made, ReduceOp::sum); }

std::vector<ValueId> meaning(Chain& chain, std::span<const ValueId> members, const Attributes&) {
    return std::vector<ValueId>(members.size(), combined(chain, "add", members));
}

std::string of_equal(std::string_view x, const Attributes& attributes) {
    return fmt::format("{{mul: [{}, {}]}} needs no collective", x, group_size(attributes));
}

// Each device's own term counts once in the sum that all of them hold.
std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    return {chain("pvary", {context.cotangent}, over_same(context.attributes))};
}

// Counts what is true, as an i32.
bool splits(std::span<const TensorType> operands, const Attributes&) { return operands[0].dtype == DType::boolean; }
std::optional<ValueId> expand(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes) {
    Chain chain(builder);
    const ValueId ones = chain.cast(operands[0], DType::i32);
    const ValueId sum = chain("psum", {ones}, over_same(attributes));
    return chain.ok() ? std::optional(sum) : std::nullopt;
}

InferResult infer(const InferContext& context) {
    if (!is_boolean(context.operands[0].dtype)) return infer_same_number(context);
    return InferResult{{make_type(DType::i32, context.operands[0].shape)}};
}

} // namespace

const OpDef& op_psum() {
    static const DeviceOp device = {.varying = DeviceOp::Varying::drops,
                                    .collective = collective,
                                    .meaning = meaning,
                                    .of_equal = of_equal,
                                    .written = written};
    static const OpDef def = [] {
        OpDef made =
            all_reduce_op("psum",
                          "In a manual region: the sum of x over the devices along mesh axes, on each of them; "
                          "of bools, how many are true.\n{psum: x, over: i}",
                          device, gradient);
        made.infer = infer;
        made.splits = splits;
        made.expand = expand;
        made.linear_in = {0};
        return made;
    }();
    return def;
}

} // namespace shard
