// What ragged_dot and the op of its gradient share: both are a part of one kernel (plans/kernel/ragged_contract.h).
#pragma once

#include "planner/graph/op_def.h"

namespace shard {

// What does not depend on the part; `ragged_op` makes an op of it.
std::optional<std::vector<TensorType>> infer_ragged(RaggedPart part, const InferContext& context);
IndexRule ragged_rule(RaggedPart part, std::span<const TensorType> operands, std::span<const TensorType> results,
                      const Attributes& attributes);
Kernel lower_ragged(RaggedPart part, const LowerContext& context);

template<RaggedPart part>
OpDef ragged_op(std::string_view name, std::string_view doc, std::vector<ValueId> (*gradient)(const GradientContext&)) {
    OpDef def;
    def.name = name;
    def.doc = doc;
    def.operands = {3, 3};
    def.infer = [](const InferContext& context) { return infer_ragged(part, context); };
    def.rule = [](std::span<const TensorType> operands, std::span<const TensorType> results,
                  const Attributes& attributes) { return ragged_rule(part, operands, results, attributes); };
    def.lower = [](const LowerContext& context) { return lower_ragged(part, context); };
    def.gradient = gradient;
    def.linear_in = {0, 1};
    def.op_class = OpDef::Class::contraction;
    return def;
}

// The attributes of the two.
Attributes ragged_dot_attributes(bool transposed);
Attributes ragged_gradient_attributes(i64 batch);

} // namespace shard
