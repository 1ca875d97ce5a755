#include "planner/ops_support/reduce.h"

#include "planner/graph/builder.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/rule_maker.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

namespace {

bool has(const std::vector<i64>& dims, int dim) { return std::find(dims.begin(), dims.end(), dim) != dims.end(); }

} // namespace

InferResult infer_reduce(const InferContext& context) {
    if (!check_dtype(context, 0, is_numeric, "numbers")) return std::nullopt;
    const TensorType& operand = context.operands[0];
    const std::vector<i64> dims = dims_or_all(context.attributes, operand.rank());
    const bool keep = context.attributes.flag("keepdims", false);
    TensorType result = make_type(operand.dtype, {});
    for (int d = 0; d < operand.rank(); ++d) {
        if (has(dims, d) && !keep) continue;
        result.shape.push_back(has(dims, d) ? 1 : operand.shape[d]);
    }
    result.logical.resize(result.shape.size());
    return InferResult{{result}};
}

IndexRule rule_reduce(ReduceOp op, std::span<const TensorType> operands, const Attributes& attributes) {
    const std::vector<i64> dims = dims_or_all(attributes, operands[0].rank());
    RuleMaker maker(1, 1);
    for (int d = 0; d < operands[0].rank(); ++d) {
        const FactorKind kind = has(dims, d) ? FactorKind::reduction : FactorKind::pass_through;
        const int factor = maker.factor(kind, operands[0].shape[d]);
        maker.operand(0).push_back({factor});
        if (kind == FactorKind::pass_through) maker.result().push_back({factor});
    }
    maker.rule().reduce = op;
    return maker.rule();
}

Kernel lower_reduce(ReduceOp op, const LowerContext& context) {
    Reduce kernel;
    kernel.op = op;
    for (i64 dim : dims_or_all(context.attributes, context.local_operands[0].rank()))
        kernel.dims.push_back(static_cast<int>(dim));
    return kernel;
}

void complete_reduce(std::span<const TensorType> operands, std::span<const TensorType>, Attributes& attributes) {
    Attributes complete;
    complete.set("dims", dims_or_all(attributes, operands[0].rank()));
    if (attributes.flag("keepdims", false)) complete.set("keepdims", true);
    attributes = std::move(complete);
}

bool reduce_keeps_dims(std::span<const TensorType>, const Attributes& attributes) {
    return attributes.flag("keepdims", false);
}

std::optional<ValueId> expand_reduce(ReduceOp op, Builder& builder, std::span<const ValueId> operands,
                                     const Attributes& attributes) {
    const TensorType type = builder.type(operands[0]);
    const std::vector<i64> dims = dims_or_all(attributes, type.rank());
    Attributes reduced, kept;
    reduced.set("dims", dims);
    const std::optional<ValueId> result = builder.emit(fmt::format("reduce_{}", name(op)), {operands[0]}, reduced);
    if (!result) return std::nullopt;
    Shape shape = type.shape;
    for (i64 dim : dims) shape[dim] = 1;
    kept.set("shape", shape);
    return builder.emit("reshape", {*result}, kept);
}

std::vector<AttributeDef> reduce_attributes(std::string_view dims_doc) {
    return {{"dims", AttributeDef::Type::dims, false, dims_doc},
            {"dim", AttributeDef::Type::dims, false, "the same, for one dim"},
            {"axes", AttributeDef::Type::dims, false, "the same, by logical names"},
            {"keepdims", AttributeDef::Type::flag, false, "keep those dims, with size 1"}};
}

OpDef reduce_op_def(std::string_view name, std::string_view doc) {
    OpDef def;
    def.name = name;
    def.doc = doc;
    def.operands = {1, 1};
    def.attributes = reduce_attributes("the dims to reduce; all unless said");
    def.infer = infer_reduce;
    def.complete = complete_reduce;
    def.splits = reduce_keeps_dims;
    return def;
}

} // namespace shard
