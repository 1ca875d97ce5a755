#include "planner/ops_support/gradient.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/pointwise.h"
#include "planner/ops_support/rule_maker.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// The result dim of each operand dim; aligned at the last dim unless said.
std::vector<i64> result_dims(const TensorType& operand, size_t result_rank, const Attributes& attributes) {
    if (attributes.has("dims")) return attributes.integers("dims");
    std::vector<i64> dims;
    for (size_t d = 0; d < operand.shape.size(); ++d)
        dims.push_back(static_cast<i64>(result_rank - operand.shape.size() + d));
    return dims;
}

InferResult infer(const InferContext& context) {
    const TensorType& operand = context.operands[0];
    if (!context.attributes.has("shape")) {
        context.diagnostics.error("E0225", context.span, "'broadcast' needs the result's `shape` or `axes`");
        return std::nullopt;
    }
    const Shape& shape = context.attributes.integers("shape");
    const auto misfit = [&](std::string note) {
        context.diagnostics
            .error("E0223", context.span,
                   fmt::format("{} cannot be broadcast to {}", operand_text(context, 0), shape_text(shape)))
            .note(std::move(note));
        return std::nullopt;
    };
    if (shape.size() < operand.shape.size()) return misfit("the result has fewer dims");
    const std::vector<i64> dims = result_dims(operand, shape.size(), context.attributes);
    if (dims.size() != operand.shape.size())
        return misfit(fmt::format("`dims` has {} entries for {} dims", dims.size(), operand.shape.size()));
    for (size_t d = 0; d < dims.size(); ++d) {
        if (dims[d] < 0 || dims[d] >= static_cast<i64>(shape.size()) || (d > 0 && dims[d] <= dims[d - 1]))
            return misfit("`dims` must rise and lie within the result");
        const i64 size = shape[dims[d]];
        if (operand.shape[d] != 1 && operand.shape[d] != size)
            return misfit(
                fmt::format("dim {} has size {}, dim {} of the result {}", d, operand.shape[d], dims[d], size));
    }
    TensorType type = make_type(operand.dtype, shape);
    if (context.attributes.has("axes")) type.logical = context.attributes.strings("axes");
    return InferResult{{type}};
}

void complete(std::span<const TensorType> operands, std::span<const TensorType> results, Attributes& attributes) {
    attributes.set("dims", result_dims(operands[0], results[0].shape.size(), attributes));
}

// A dim of size 1 that grows shares nothing with the result.
IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType> results,
               const Attributes& attributes) {
    const std::vector<i64> dims = result_dims(operands[0], results[0].shape.size(), attributes);
    RuleMaker maker(1, 1);
    maker.operand(0).resize(dims.size());
    for (size_t d = 0; d < results[0].shape.size(); ++d) {
        const int factor = maker.factor(FactorKind::pass_through, results[0].shape[d]);
        maker.result().push_back({factor});
        const std::vector<i64>::const_iterator from = std::find(dims.begin(), dims.end(), static_cast<i64>(d));
        if (from == dims.end()) continue;
        const size_t e = from - dims.begin();
        if (operands[0].shape[e] == results[0].shape[d])
            maker.operand(0)[e] = {factor};
        else
            maker.operand(0)[e] = {maker.factor(FactorKind::pass_through, 1)};
    }
    return maker.rule();
}

Kernel lower(const LowerContext& context) {
    Pointwise kernel;
    std::vector<int> input_dims;
    for (i64 dim : result_dims(context.local_operands[0], context.local_results[0].shape.size(), context.attributes))
        input_dims.push_back(static_cast<int>(dim));
    kernel.input_dims = {input_dims};
    ScalarStep input;
    input.op = ScalarOp::input;
    input.args[0] = 0;
    input.dtype = context.local_operands[0].dtype;
    kernel.steps = {input};
    return kernel;
}

std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const TensorType type = chain.type(context.inputs[0]);
    const Shape shape = chain.type(context.output).shape;
    const std::vector<i64>& dims = context.attributes.integers("dims");
    std::vector<i64> repeated;
    for (size_t d = 0; d < shape.size(); ++d) {
        const std::vector<i64>::const_iterator from = std::find(dims.begin(), dims.end(), static_cast<i64>(d));
        if (from == dims.end() || type.shape[from - dims.begin()] != shape[d]) repeated.push_back(static_cast<i64>(d));
    }
    if (repeated.empty()) return {context.cotangent};
    const ValueId sum = chain("reduce_sum", {context.cotangent}, attributes_of({{"dims", repeated}}));
    if (chain.type(sum).shape == type.shape) return {sum};
    return {chain("reshape", {sum}, shape_of(type.shape, type.logical))};
}

} // namespace

const OpDef& op_broadcast() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "broadcast";
        made.doc = "The value repeated along new dims, and along dims of size 1.\n{broadcast: b, axes: [batch, embed]}";
        made.operands = {1, 1};
        made.attributes = {{"shape", AttributeDef::Type::shape, false, "the result's sizes or axis names"},
                           {"axes", AttributeDef::Type::axes, false, "the result's axis names, one a dim"},
                           {"dims", AttributeDef::Type::integers, false,
                            "the result dim of each dim of the operand; aligned at the last unless said"}};
        made.infer = infer;
        made.complete = complete;
        made.rule = rule;
        made.lower = lower;
        made.gradient = gradient;
        made.linear_in = {0};
        made.op_class = OpDef::Class::broadcast;
        return made;
    }();
    return def;
}

} // namespace shard
