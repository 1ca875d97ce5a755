#include "planner/ops_support/gradient.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/lookup.h"
#include "planner/ops_support/rule_maker.h"

#include <fmt/format.h>

namespace shard {

namespace {

Lookup lookup_along(const Attributes& attributes) {
    return lookup_of(attributes.has("dim") ? dim_attribute(attributes) : 0, attributes);
}

InferResult infer(const InferContext& context) {
    const TensorType &table = context.operands[0], &indices = context.operands[1];
    if (!is_integer(indices.dtype) && is_integer(table.dtype)) {
        context.diagnostics
            .error("E0224", context.span,
                   fmt::format("'gather' takes the table first, and indices behind it, but {} is {}",
                               operand_text(context, 1), name(indices.dtype)))
            .help("write {gather: [table, indices]}");
        return std::nullopt;
    }
    if (!check_dtype(context, 1, is_integer, "whole numbers as indices")) return std::nullopt;
    if (table.rank() == 0) {
        context.diagnostics.error("E0223", context.span,
                                  "'gather' takes along a dim, and " + operand_text(context, 0) + " is a scalar");
        return std::nullopt;
    }
    const Lookup lookup = lookup_along(context.attributes);
    if (!check_lookup(context, lookup, table.shape, indices.shape)) return std::nullopt;
    return InferResult{{make_type(table.dtype, found_shape(lookup, table.shape, indices.shape))}};
}

void complete(std::span<const TensorType>, std::span<const TensorType>, Attributes& attributes) {
    if (!attributes.has("dim")) attributes.set("dim", std::vector<i64>{0});
}

// A device that holds a part of the indexed dim gives zeros for indices outside it, so the dim is a reduction.
IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType> results,
               const Attributes& attributes) {
    const Lookup lookup = lookup_along(attributes);
    const LookupDims dims = lookup_dims(lookup, operands[0].shape.size(), operands[1].shape.size());
    RuleMaker maker(2, 1);
    for (const i64 size : results[0].shape) maker.result().push_back({maker.factor(FactorKind::pass_through, size)});
    for (const int found : dims.indices) maker.operand(1).push_back(maker.result()[found]);
    for (const int found : dims.table) maker.operand(0).push_back(found < 0 ? DimFactors{} : maker.result()[found]);
    const i64 size = operands[0].shape[lookup.axis];
    maker.operand(0)[lookup.axis] = {
        maker.factor(size == 1 ? FactorKind::need_replication : FactorKind::reduction, size)};
    return maker.rule();
}

Kernel lower(const LowerContext& context) {
    const Lookup lookup = lookup_along(context.attributes);
    return Gather{lookup.axis, context.global_operands[0].shape[lookup.axis], context.operand_start(0, lookup.axis),
                  lookup.batch};
}

// What was looked up several times is the sum of its uses.
std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const i64 axis = dim_attribute(context.attributes);
    Attributes attributes = lookup_attributes(context, axis);
    attributes.set("size", std::vector<i64>{chain.type(context.inputs[0]).shape[axis]});
    return {chain("scatter_add", {context.inputs[1], context.cotangent}, std::move(attributes)), -1};
}

} // namespace

const OpDef& op_gather() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "gather";
        made.doc = "Slices of a table by indices along one dim, as an embedding lookup; indices beyond the ends take "
                   "the end.\n"
                   "{gather: [table, tokens], dim: 0}";
        made.operands = {2, 2};
        made.attributes = {{"dim", AttributeDef::Type::dim, false, "the indexed dim of the table; 0 unless said"},
                           batch_attribute()};
        made.infer = infer;
        made.complete = complete;
        made.rule = rule;
        made.lower = lower;
        made.gradient = gradient;
        made.linear_in = {0};
        return made;
    }();
    return def;
}

} // namespace shard
