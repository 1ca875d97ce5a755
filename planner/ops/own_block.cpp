#include "planner/ops_support/device.h"

#include <algorithm>

namespace shard {

namespace {

InferResult infer(const InferContext& context) {
    const TensorType& operand = context.operands[0];
    const std::optional<i64> dim = named_dim(context, "dim", operand.rank());
    if (!dim || !check_group_divides(context, *dim)) return std::nullopt;
    Shape shape = operand.shape;
    shape[*dim] /= group_size(context.attributes);
    return InferResult{{make_type(operand.dtype, shape)}};
}

void complete(std::span<const TensorType> operands, std::span<const TensorType>, Attributes& attributes) {
    attributes.set("dim", dim_of(attributes, "dim", operands[0].rank()));
}

i64 own_block_of(const Attributes& attributes) { return attributes.integer("dim"); }

IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType> results,
               const Attributes& attributes) {
    const i64 dim = dim_of(attributes, "dim", operands[0].rank());
    return rule_but_dims(operands, results, std::span(&dim, 1));
}

Kernel lower(const LowerContext& context) {
    const size_t dim = context.attributes.integer("dim");
    Move move = copy_kernel(context.local_results[0]);
    move.pieces[0].in_start[dim] = block_start(context.local_operands[0].shape[dim], group_axes(context.attributes));
    return move;
}

std::vector<ValueId> meaning(Chain& chain, std::span<const ValueId> members, const Attributes& attributes) {
    std::vector<ValueId> parts;
    const i64 n = static_cast<i64>(members.size());
    for (i64 rank = 0; rank < n; ++rank)
        parts.push_back(part_of(chain, members[rank], attributes.integer("dim"), rank, n));
    return parts;
}

// Of what all devices hold, each device's block has its own gradient. Where they hold different values, the rest of a
// device's value has none.
std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const i64 dim = context.attributes.integer("dim");
    const ValueId whole =
        chain("all_gather", {context.cotangent}, over_same(context.attributes, {{"dim", dim}, {"tiled", true}}));
    const std::vector<int>& varying = context.builder.graph().value(context.inputs[0]).varying;
    bool varies = false;
    for (i64 axis : context.attributes.integers("mesh_axes"))
        varies = varies || std::find(varying.begin(), varying.end(), axis) != varying.end();
    if (!varies) return {whole};
    const TensorType type = chain.type(context.inputs[0]);
    const i64 block = type.shape[dim] / group_size(context.attributes);
    Attributes along = shape_of(type.shape, type.logical);
    along.set("dim", std::vector<i64>{dim});
    along.set("dtype", std::string(name(DType::i32)));
    const ValueId owner = chain("trunc_div", chain("iota", {}, along), static_cast<double>(block));
    const ValueId own = chain("eq", {owner, chain("axis_index", {}, over_same(context.attributes))});
    return {chain("select", {own, whole, context.builder.scalar(0, type.dtype)})};
}

} // namespace

const OpDef& op_own_block() {
    static const DeviceOp device = {
        .varying = DeviceOp::Varying::adds, .meaning = meaning, .own_block_of = own_block_of};
    static const OpDef def = [] {
        OpDef made;
        made.name = "own_block";
        made.doc = "In a manual region: of as many equal parts of a dim as there are devices along mesh axes, the "
                   "device's own; the opposite of all_gather.\n{own_block: x, over: i, dim: 0}";
        made.operands = {1, 1};
        made.attributes = {over_attribute(), {"dim", AttributeDef::Type::integer, false, "the dim that shrinks; 0"}};
        made.infer = infer;
        made.complete = complete;
        made.rule = rule;
        made.lower = lower;
        made.gradient = gradient;
        made.linear_in = {0};
        made.device = &device;
        return made;
    }();
    return def;
}

} // namespace shard
