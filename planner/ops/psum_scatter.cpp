#include "planner/ops_support/device.h"

#include <fmt/format.h>

namespace shard {

namespace {

i64 dim_in(const TensorType& operand, const Attributes& attributes) {
    return dim_of(attributes, "dim", operand.rank());
}

InferResult infer(const InferContext& context) {
    const TensorType& operand = context.operands[0];
    const bool tiled = is_tiled(context.attributes);
    if (!check_dtype(context, 0, is_numeric, "a number")) return std::nullopt;
    const std::optional<i64> dim = named_dim(context, "dim", operand.rank());
    if (!dim || !(tiled ? check_group_divides(context, *dim) : check_group_size(context, *dim))) return std::nullopt;
    Shape shape = operand.shape;
    if (tiled)
        shape[*dim] /= group_size(context.attributes);
    else
        shape.erase(shape.begin() + *dim);
    return InferResult{{make_type(operand.dtype, shape)}};
}

void complete(std::span<const TensorType> operands, std::span<const TensorType>, Attributes& attributes) {
    attributes.set("dim", dim_in(operands[0], attributes));
}

bool splits(std::span<const TensorType>, const Attributes& attributes) { return !is_tiled(attributes); }
std::optional<ValueId> expand(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes) {
    Chain chain(builder);
    const i64 dim = attributes.integer("dim");
    const ValueId row = chain("psum_scatter", {operands[0]}, over_same(attributes, {{"dim", dim}, {"tiled", true}}));
    const ValueId result = chain.ok() ? without_dim(chain, row, dim) : row;
    return chain.ok() ? std::optional(result) : std::nullopt;
}

IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType> results,
               const Attributes& attributes) {
    const i64 dim = dim_in(operands[0], attributes);
    return rule_but_dims(operands, results, std::span(&dim, 1));
}

Collective collective(const Attributes& attributes) {
    Collective made;
    made.def = find_collective("reduce_scatter");
    made.moves = {{-1, static_cast<int>(attributes.integer("dim")), group_axes(attributes)}};
    return made;
}

std::optional<std::string> written(const Collective& made) {
    if (made.def->uses != CollectiveDef::Uses{.reduce = true, .to = true} || made.reduce != ReduceOp::sum)
        return std::nullopt;
    return fmt::format("dim: {}, tiled: true", made.moves[0].to);
}

std::vector<ValueId> meaning(Chain& chain, std::span<const ValueId> members, const Attributes& attributes) {
    const ValueId sum = combined(chain, "add", members);
    const i64 n = static_cast<i64>(members.size());
    std::vector<ValueId> parts;
    for (i64 rank = 0; rank < n; ++rank) parts.push_back(part_of(chain, sum, attributes.integer("dim"), rank, n));
    return parts;
}

std::string of_equal(std::string_view x, const Attributes& attributes) {
    return fmt::format("own_block of {{mul: [{}, {}]}} needs no collective", x, group_size(attributes));
}

std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    return {chain("all_gather", {context.cotangent},
                  over_same(context.attributes, {{"dim", context.attributes.integer("dim")}, {"tiled", true}}))};
}

} // namespace

const OpDef& op_psum_scatter() {
    static const DeviceOp device = {.varying = DeviceOp::Varying::keeps,
                                    .collective = collective,
                                    .meaning = meaning,
                                    .of_equal = of_equal,
                                    .written = written};
    static const OpDef def = [] {
        OpDef made;
        made.name = "psum_scatter";
        made.doc = "In a manual region: the sum of x over the devices along mesh axes, of which each device keeps one "
                   "index of a dim, which then goes, or, tiled, one block.\n{psum_scatter: x, over: i, dim: 1}";
        made.operands = {1, 1};
        made.attributes = {over_attribute(),
                           {"dim", AttributeDef::Type::integer, false, "the dim that is divided; 0"},
                           {"tiled", AttributeDef::Type::flag, false, "keep a block of the dim; false"}};
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
