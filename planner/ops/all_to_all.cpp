#include "planner/ops_support/device.h"
#include "plans/base/saturating.h"

#include <array>

#include <fmt/format.h>

namespace shard {

namespace {

std::array<i64, 2> dims_of(const TensorType& operand, const Attributes& attributes) {
    return {dim_of(attributes, "split", operand.rank()), dim_of(attributes, "concat", operand.rank())};
}

InferResult infer(const InferContext& context) {
    const TensorType& operand = context.operands[0];
    const std::optional<i64> split = named_dim(context, "split", operand.rank());
    const std::optional<i64> concat = named_dim(context, "concat", operand.rank());
    if (!split || !concat) return std::nullopt;
    const bool tiled = is_tiled(context.attributes);
    if (!(tiled ? check_group_divides(context, *split) : check_group_size(context, *split))) return std::nullopt;
    Shape shape = operand.shape;
    const i64 n = group_size(context.attributes);
    if (tiled) {
        shape[*split] /= n;
        shape[*concat] = multiply_saturating(shape[*concat], n);
    } else {
        shape.erase(shape.begin() + *split);
        shape.insert(shape.begin() + *concat, n);
    }
    return InferResult{{make_type(operand.dtype, shape)}};
}

void complete(std::span<const TensorType> operands, std::span<const TensorType>, Attributes& attributes) {
    const auto [split, concat] = dims_of(operands[0], attributes);
    attributes.set("split", split);
    attributes.set("concat", concat);
}

// A dim that is split and joined again in place is a dim of its own while it is moved.
bool splits(std::span<const TensorType> operands, const Attributes& attributes) {
    const auto [split, concat] = dims_of(operands[0], attributes);
    return !is_tiled(attributes) || split == concat;
}

std::optional<ValueId> expand(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes) {
    Chain chain(builder);
    const i64 split = attributes.integer("split"), concat = attributes.integer("concat");
    const auto exchange = [&](ValueId value, i64 from, i64 to) {
        return chain("all_to_all", {value}, over_same(attributes, {{"split", from}, {"concat", to}, {"tiled", true}}));
    };
    ValueId result = -1;
    if (is_tiled(attributes)) {
        TensorType type = chain.type(operands[0]);
        const i64 n = group_size(attributes);
        Shape blocks = type.shape;
        blocks[split] /= n;
        blocks.insert(blocks.begin() + split, n);
        const ValueId stacked = chain("reshape", {operands[0]}, shape_of(blocks));
        const ValueId moved = exchange(chain.ok() ? with_dim(chain, stacked, split) : stacked, split + 1, split);
        result = chain("reshape", {moved}, shape_of(type.shape, type.logical));
    } else {
        // The dim that comes in addition stands where it will be when the split one, then of size 1, is gone.
        const i64 added = concat <= split ? concat : concat + 1, left = concat <= split ? split + 1 : split;
        const ValueId moved = exchange(with_dim(chain, operands[0], added), left, added);
        result = chain.ok() ? without_dim(chain, moved, left) : moved;
    }
    return chain.ok() ? std::optional(result) : std::nullopt;
}

IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType> results,
               const Attributes& attributes) {
    return rule_but_dims(operands, results, dims_of(operands[0], attributes));
}

Collective collective(const Attributes& attributes) {
    Collective made;
    made.def = find_collective("all_to_all");
    made.moves = {{static_cast<int>(attributes.integer("concat")), static_cast<int>(attributes.integer("split")),
                   group_axes(attributes)}};
    return made;
}

std::optional<std::string> written(const Collective& made) {
    if (made.def->uses != CollectiveDef::Uses{.from = true, .to = true}) return std::nullopt;
    return fmt::format("split: {}, concat: {}, tiled: true", made.moves[0].to, made.moves[0].from);
}

std::vector<ValueId> meaning(Chain& chain, std::span<const ValueId> members, const Attributes& attributes) {
    const i64 n = static_cast<i64>(members.size());
    std::vector<ValueId> results;
    for (i64 rank = 0; rank < n; ++rank) {
        std::vector<ValueId> parts;
        for (ValueId member : members) parts.push_back(part_of(chain, member, attributes.integer("split"), rank, n));
        results.push_back(
            chain("concatenate", parts, attributes_of({{"dim", std::vector<i64>{attributes.integer("concat")}}})));
    }
    return results;
}

std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    return {chain("all_to_all", {context.cotangent},
                  over_same(context.attributes, {{"split", context.attributes.integer("concat")},
                                                 {"concat", context.attributes.integer("split")},
                                                 {"tiled", true}}))};
}

} // namespace

const OpDef& op_all_to_all() {
    static const DeviceOp device = {
        .varying = DeviceOp::Varying::keeps, .collective = collective, .meaning = meaning, .written = written};
    static const OpDef def = [] {
        OpDef made;
        made.name = "all_to_all";
        made.doc = "In a manual region: every device cuts a dim of x into a part for each device along mesh axes, and "
                   "puts the parts that it receives side by side in a dim that comes in addition, or, tiled, one after "
                   "the other in a dim that is there.\n{all_to_all: x, over: i, split: 1, concat: 0, tiled: true}";
        made.operands = {1, 1};
        made.attributes = {over_attribute(),
                           {"split", AttributeDef::Type::integer, true, "the dim that is cut"},
                           {"concat", AttributeDef::Type::integer, true, "the dim in which parts are joined"},
                           {"tiled", AttributeDef::Type::flag, false, "let the dims shrink and grow; false"}};
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
