#include "planner/ops_support/device.h"
#include "plans/base/saturating.h"

#include <fmt/format.h>

namespace shard {

namespace {

// A stacked dim may also be the last.
int result_rank(const TensorType& operand, const Attributes& attributes) {
    return operand.rank() + (is_tiled(attributes) ? 0 : 1);
}
i64 dim_in(const TensorType& operand, const Attributes& attributes) {
    return dim_of(attributes, "dim", result_rank(operand, attributes));
}

InferResult infer(const InferContext& context) {
    const TensorType& operand = context.operands[0];
    const std::optional<i64> dim = named_dim(context, "dim", result_rank(operand, context.attributes));
    if (!dim) return std::nullopt;
    Shape shape = operand.shape;
    const i64 n = group_size(context.attributes);
    if (is_tiled(context.attributes))
        shape[*dim] = multiply_saturating(shape[*dim], n);
    else
        shape.insert(shape.begin() + *dim, n);
    return InferResult{{make_type(operand.dtype, shape)}};
}

void complete(std::span<const TensorType> operands, std::span<const TensorType>, Attributes& attributes) {
    attributes.set("dim", dim_in(operands[0], attributes));
}

bool splits(std::span<const TensorType>, const Attributes& attributes) { return !is_tiled(attributes); }
std::optional<ValueId> expand(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes) {
    Chain chain(builder);
    const i64 dim = attributes.integer("dim");
    const ValueId row = with_dim(chain, operands[0], dim);
    const ValueId result = chain("all_gather", {row}, over_same(attributes, {{"dim", dim}, {"tiled", true}}));
    return chain.ok() ? std::optional(result) : std::nullopt;
}

IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType> results,
               const Attributes& attributes) {
    const i64 dim = dim_in(operands[0], attributes);
    return rule_but_dims(operands, results, std::span(&dim, 1));
}

Collective collective(const Attributes& attributes) {
    Collective made;
    made.def = find_collective("all_gather");
    made.moves = {{static_cast<int>(attributes.integer("dim")), -1, group_axes(attributes)}};
    return made;
}

std::optional<std::string> written(const Collective& made) {
    if (made.def->uses != CollectiveDef::Uses{.from = true}) return std::nullopt;
    return fmt::format("dim: {}, tiled: true", made.moves[0].from);
}

std::vector<ValueId> meaning(Chain& chain, std::span<const ValueId> members, const Attributes& attributes) {
    const ValueId whole = chain("concatenate", {members.begin(), members.end()},
                                attributes_of({{"dim", std::vector<i64>{attributes.integer("dim")}}}));
    return std::vector<ValueId>(members.size(), whole);
}

std::string of_equal(std::string_view, const Attributes& attributes) {
    return fmt::format("concatenate {} copies of it, without a collective", group_size(attributes));
}

// Every device holds the whole gradient and takes its own block of it. Where that was summed up only for this, the
// blocks are summed up where they belong.
std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const i64 dim = context.attributes.integer("dim");
    const Graph& graph = context.builder.graph();
    const NodeId producer = graph.value(context.cotangent).producer;
    if (producer >= 0) {
        const Node& node = graph.node(producer);
        const OpDef* psum = find_op("psum");
        if (node.op() == psum && node.attributes().integers("mesh_axes") == context.attributes.integers("mesh_axes")) {
            const ValueId terms = node.inputs[0];
            return {chain("psum_scatter", {terms}, over_same(context.attributes, {{"dim", dim}, {"tiled", true}}))};
        }
    }
    return {chain("own_block", {context.cotangent}, over_same(context.attributes, {{"dim", dim}}))};
}

} // namespace

const OpDef& op_all_gather() {
    static const DeviceOp device = {.varying = DeviceOp::Varying::drops,
                                    .collective = collective,
                                    .meaning = meaning,
                                    .of_equal = of_equal,
                                    .written = written};
    static const OpDef def = [] {
        OpDef made;
        made.name = "all_gather";
        made.doc =
            "In a manual region: the devices' values along mesh axes, stacked along a dim that comes in addition, "
            "or, tiled, one after the other along a dim.\n{all_gather: w, over: i, dim: 0, tiled: true}";
        made.operands = {1, 1};
        made.attributes = {over_attribute(),
                           {"dim", AttributeDef::Type::integer, false, "the dim that grows or comes in addition; 0"},
                           {"tiled", AttributeDef::Type::flag, false, "let the dim grow; false"}};
        made.infer = infer;
        made.complete = complete;
        made.splits = splits;
        made.expand = expand;
        made.rule = rule;
        made.lower = lower_placeholder;
        made.gradient = gradient;
        made.linear_in = {0};
        made.device = &device;
        return made;
    }();
    return def;
}

} // namespace shard
