#include "planner/ops_support/gradient.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/rule_maker.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

i64 axis_of(const Attributes& attributes) { return attributes.integer("dim", 0); }

// [indices, updates], or [operand, indices, updates], which is the first form and an addition.
bool has_operand(size_t operands) { return operands == 3; }

InferResult infer(const InferContext& context) {
    const size_t first = has_operand(context.operands.size()) ? 1 : 0;
    const TensorType &indices = context.operands[first], &updates = context.operands[first + 1];
    if (!check_dtype(context, first, is_integer, "whole numbers as indices") ||
        !check_dtype(context, first + 1, is_numeric, "numbers as updates"))
        return std::nullopt;
    const i64 axis = axis_of(context.attributes);
    const auto refuse = [&](std::string message, std::string help) {
        context.diagnostics.error("E0223", context.span, std::move(message)).help(std::move(help));
        return std::nullopt;
    };
    const bool fits = axis >= 0 && axis <= updates.rank() - indices.rank() &&
                      std::equal(indices.shape.begin(), indices.shape.end(), updates.shape.begin() + axis);
    if (!fits)
        return refuse(fmt::format("'scatter_add' finds no dims of {} in {} from dim {} on",
                                  operand_text(context, first), operand_text(context, first + 1), axis),
                      "the updates have the indices' dims in the place of the result's dim `dim`");
    Shape shape(updates.shape.begin(), updates.shape.begin() + axis);
    shape.push_back(0);
    shape.insert(shape.end(), updates.shape.begin() + axis + indices.rank(), updates.shape.end());
    i64& size = shape[axis];
    if (context.attributes.has("size")) {
        size = context.attributes.integers("size")[0];
    } else if (first == 1 && context.operands[0].rank() == static_cast<int>(shape.size())) {
        size = context.operands[0].shape[axis];
    } else if (first == 0) {
        return refuse("'scatter_add' into zeros needs their `size` along the indexed dim",
                      "{scatter_add: [indices, updates], size: vocab}");
    }
    if (size < 1) return refuse(fmt::format("'scatter_add' makes no dim of size {}", size), "a size is at least 1");
    if (first == 1) {
        if (!check_same_dtype(context, 2)) return std::nullopt;
        if (context.operands[0].dtype != updates.dtype) {
            context.diagnostics.error("E0224", context.span,
                                      fmt::format("'scatter_add' adds elements of one type, and {} is {}, {} is {}",
                                                  operand_text(context, 0), name(context.operands[0].dtype),
                                                  operand_text(context, 2), name(updates.dtype)));
            return std::nullopt;
        }
        if (context.operands[0].shape != shape)
            return refuse(fmt::format("'scatter_add' makes {} of the updates, and {} does not have that shape",
                                      shape_text(shape), operand_text(context, 0)),
                          "the operand has the updates' shape, with one dim in the place of the indices'");
    }
    return InferResult{{make_type(updates.dtype, shape)}};
}

void complete(std::span<const TensorType>, std::span<const TensorType> results, Attributes& attributes) {
    const i64 axis = axis_of(attributes);
    attributes = {};
    attributes.set("dim", axis);
    attributes.set("size", std::vector<i64>{results[0].shape[axis]});
}

bool splits(std::span<const TensorType> operands, const Attributes&) { return has_operand(operands.size()); }

std::optional<ValueId> expand(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes) {
    const i64 axis = axis_of(attributes);
    const std::vector<i64> size = {builder.type(operands[0]).shape[axis]};
    Chain chain(builder);
    const ValueId sums =
        chain("scatter_add", {operands[1], operands[2]}, attributes_of({{"dim", axis}, {"size", size}}));
    const ValueId result = chain("add", {operands[0], sums});
    return chain.ok() ? std::optional(result) : std::nullopt;
}

// Updates that are split over the indices' dims give partial sums; a device of a split result needs all updates.
IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType> results,
               const Attributes& attributes) {
    const size_t axis = axis_of(attributes), index_rank = operands[0].shape.size();
    RuleMaker maker(2, 1);
    maker.operand(1).resize(operands[1].shape.size());
    for (size_t d = 0; d < results[0].shape.size(); ++d) {
        const i64 size = results[0].shape[d];
        const int factor =
            maker.factor(d == axis && size == 1 ? FactorKind::need_replication : FactorKind::pass_through, size);
        maker.result().push_back({factor});
        if (d != axis) maker.operand(1)[d < axis ? d : d + index_rank - 1] = {factor};
    }
    for (size_t d = 0; d < index_rank; ++d) {
        const i64 size = operands[0].shape[d];
        const int factor = maker.factor(size == 1 ? FactorKind::need_replication : FactorKind::reduction, size);
        maker.operand(0).push_back({factor});
        maker.operand(1)[axis + d] = {factor};
    }
    return maker.rule();
}

Kernel lower(const LowerContext& context) {
    const int axis = static_cast<int>(axis_of(context.attributes));
    return Scatter{axis, context.global_results[0].shape[axis], context.result_start(0, axis)};
}

std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    return {-1, chain("gather", {context.cotangent, context.inputs[0]},
                      attributes_of({{"dim", std::vector<i64>{axis_of(context.attributes)}}}))};
}

} // namespace

const OpDef& op_scatter_add() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "scatter_add";
        made.doc = "Adds rows into zeros, or into an operand: out[..., indices[i...], ...] += updates[..., i..., ...]; "
                   "indices beyond the ends take the end.\n"
                   "{scatter_add: [tokens, updates], size: vocab}";
        made.operands = {2, 3};
        made.attributes = {
            {"dim", AttributeDef::Type::integer, false, "the indexed dim of the result, from 0; 0 unless said"},
            {"size", AttributeDef::Type::size, false, "its size; that of the operand unless said"}};
        made.infer = infer;
        made.complete = complete;
        made.splits = splits;
        made.expand = expand;
        made.rule = rule;
        made.lower = lower;
        made.gradient = gradient;
        made.linear_in = {1};
        return made;
    }();
    return def;
}

} // namespace shard
