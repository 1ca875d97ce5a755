#include "planner/ops_support/scatter.h"

#include "planner/ops_support/gradient.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/lookup.h"
#include "planner/ops_support/rule_maker.h"

#include <fmt/format.h>

namespace shard {

namespace {

i64 axis_of(const Attributes& attributes) { return attributes.integer("dim", 0); }

bool has_operand(size_t operands) { return operands == 3; }

struct Names {
    std::string_view scatter, combine;
};

Names names_of(ReduceOp op) {
    switch (op) {
    case ReduceOp::sum:
        return {"scatter_add", "add"};
    case ReduceOp::max:
        return {"scatter_max", "max"};
    case ReduceOp::min:
        return {"scatter_min", "min"};
    case ReduceOp::prod:
        break;
    }
    internal_error("a reduction that no op scatters by");
}

// The result's shape, with 0 for the indexed dim; nullopt if there is no such dim.
std::optional<Shape> rest_of(const Lookup& lookup, const Shape& indices, const Shape& updates) {
    const size_t free = indices.size() - std::min(indices.size(), lookup.batch.size());
    if (lookup.axis < 0 || updates.size() < free || static_cast<size_t>(lookup.axis) > updates.size() - free)
        return std::nullopt;
    const std::ptrdiff_t axis = lookup.axis;
    Shape shape(updates.begin(), updates.begin() + axis);
    shape.push_back(0);
    shape.insert(shape.end(), updates.begin() + axis + static_cast<std::ptrdiff_t>(free), updates.end());
    return shape;
}

InferResult infer(const InferContext& context) {
    const size_t first = has_operand(context.operands.size()) ? 1 : 0;
    const TensorType &indices = context.operands[first], &updates = context.operands[first + 1];
    if (!check_dtype(context, first, is_integer, "whole numbers as indices") ||
        !check_dtype(context, first + 1, is_numeric, "numbers as updates"))
        return std::nullopt;
    const auto refuse = [&](std::string message, std::string help) {
        context.diagnostics.error("E0223", context.span, std::move(message)).help(std::move(help));
        return std::nullopt;
    };
    const Lookup lookup = lookup_of(axis_of(context.attributes), context.attributes);
    const auto no_dims = [&] {
        return refuse(fmt::format("'{}' finds no dims of {} in {} from dim {} on", context.op,
                                  operand_text(context, first), operand_text(context, first + 1),
                                  axis_of(context.attributes)),
                      "the updates have the indices' dims in the place of the result's dim `dim`");
    };
    const std::optional<Shape> rest = rest_of(lookup, indices.shape, updates.shape);
    if (!rest) return no_dims();
    Shape shape = *rest;
    i64& size = shape[lookup.axis];
    if (context.attributes.has("size")) {
        size = context.attributes.integers("size")[0];
    } else if (first == 1 && context.operands[0].rank() == static_cast<int>(shape.size())) {
        size = context.operands[0].shape[lookup.axis];
    } else if (first == 0) {
        return refuse(fmt::format("'{}' into a new value needs its `size` along the indexed dim", context.op),
                      fmt::format("{{{}: [indices, updates], size: vocab}}", context.op));
    }
    if (size < 1) return refuse(fmt::format("'{}' makes no dim of size {}", context.op, size), "a size is at least 1");
    if (!check_lookup(context, lookup, shape, indices.shape)) return std::nullopt;
    if (found_shape(lookup, shape, indices.shape) != updates.shape) return no_dims();
    if (first == 0) return InferResult{{make_type(updates.dtype, shape)}};
    if (context.operands[0].dtype != updates.dtype) {
        context.diagnostics.error("E0224", context.span,
                                  fmt::format("'{}' combines elements of one type, and {} is {}, {} is {}", context.op,
                                              operand_text(context, 0), name(context.operands[0].dtype),
                                              operand_text(context, 2), name(updates.dtype)));
        return std::nullopt;
    }
    if (context.operands[0].shape != shape)
        return refuse(fmt::format("'{}' makes {} of the updates, and {} does not have that shape", context.op,
                                  shape_text(shape), operand_text(context, 0)),
                      "the operand has the updates' shape, with one dim in the place of the indices'");
    return InferResult{{make_type(updates.dtype, shape)}};
}

void complete(std::span<const TensorType>, std::span<const TensorType> results, Attributes& attributes) {
    const i64 axis = axis_of(attributes);
    attributes.set("dim", axis);
    attributes.set("size", std::vector<i64>{results[0].shape[axis]});
}

Attributes local_attributes(const LowerContext& context) {
    Attributes attributes = context.attributes;
    attributes.set("size", std::vector<i64>{context.local_results[0].shape[axis_of(attributes)]});
    return attributes;
}

bool splits(std::span<const TensorType> operands, const Attributes&) { return has_operand(operands.size()); }

} // namespace

std::optional<ValueId> expand_scatter(ReduceOp op, Builder& builder, std::span<const ValueId> operands,
                                      const Attributes& attributes) {
    Attributes into_new = attributes;
    into_new.set("size", std::vector<i64>{builder.type(operands[0]).shape[axis_of(attributes)]});
    Chain chain(builder);
    const ValueId made = chain(names_of(op).scatter, {operands[1], operands[2]}, std::move(into_new));
    const ValueId result = chain(names_of(op).combine, {operands[0], made});
    return chain.ok() ? std::optional(result) : std::nullopt;
}

// Updates that are split over the indices' dims give partial results; a device of a split result needs all updates.
IndexRule rule_scatter(ReduceOp op, std::span<const TensorType> operands, std::span<const TensorType> results,
                       const Attributes& attributes) {
    const Lookup lookup = lookup_of(axis_of(attributes), attributes);
    const LookupDims dims = lookup_dims(lookup, results[0].shape.size(), operands[0].shape.size());
    RuleMaker maker(2, 1);
    maker.operand(0).resize(operands[0].shape.size());
    maker.operand(1).resize(operands[1].shape.size());
    for (size_t d = 0; d < dims.table.size(); ++d) {
        const i64 size = results[0].shape[d];
        const bool is_axis = dims.table[d] < 0;
        const int factor =
            maker.factor(is_axis && size == 1 ? FactorKind::need_replication : FactorKind::pass_through, size);
        maker.result().push_back({factor});
        if (!is_axis) maker.operand(1)[dims.table[d]] = {factor};
    }
    for (const auto& [table, indices] : lookup.batch) maker.operand(0)[indices] = maker.result()[table];
    for (size_t d = 0; d < dims.indices.size(); ++d) {
        if (!maker.operand(0)[d].empty()) continue;
        const i64 size = operands[0].shape[d];
        const int factor = maker.factor(size == 1 ? FactorKind::need_replication : FactorKind::reduction, size);
        maker.operand(0)[d] = {factor};
        maker.operand(1)[dims.indices[d]] = {factor};
    }
    maker.rule().reduce = op;
    return maker.rule();
}

Kernel lower_scatter(ReduceOp op, const LowerContext& context) {
    const Lookup lookup = lookup_of(axis_of(context.attributes), context.attributes);
    return Scatter{lookup.axis, context.global_results[0].shape[lookup.axis], context.result_start(0, lookup.axis), op,
                   lookup.batch};
}

ValueId found_in(Chain& chain, const GradientContext& context, ValueId table) {
    return chain("gather", {table, context.inputs[0]},
                 lookup_attributes(context, std::vector<i64>{axis_of(context.attributes)}));
}

std::vector<ValueId> scatter_extremum_gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const ValueId updates = context.inputs[1];
    const DType dtype = chain.type(updates).dtype;
    const ValueId is_chosen = chain("eq", {updates, found_in(chain, context, context.output)});
    const ValueId ones = chain.cast(is_chosen, dtype);
    const ValueId count = chain("scatter_add", {context.inputs[0], ones}, context.attributes);
    const ValueId share = chain("div", {context.cotangent, count}); // infinite where nothing is; not looked up
    return {-1, chain("select", {is_chosen, found_in(chain, context, share), context.builder.scalar(0, dtype)})};
}

OpDef scatter_op_def(std::string_view name, std::string_view doc) {
    OpDef def;
    def.name = name;
    def.doc = doc;
    def.operands = {2, 3};
    def.attributes = {
        {"dim", AttributeDef::Type::integer, false, "the indexed dim of the result, from 0; 0 unless said"},
        {"size", AttributeDef::Type::size, false, "its size; that of the operand unless said"},
        batch_attribute()};
    def.infer = infer;
    def.complete = complete;
    def.splits = splits;
    def.local_attributes = local_attributes;
    return def;
}

} // namespace shard
