// What attention and the ops that its gradient is made of share: each is a part of one kernel, attend
// (plans/kernel/attend.h), with that part's operands and the arguments of `attention`. A last operand that is a scalar
// says where the queries begin.
#pragma once

#include "planner/graph/op_def.h"
#include "plans/kernel/attend.h"

namespace shard {

// What does not depend on the part; `attention_op` makes an op of it.
OpDef attention_op_def(AttendPart part, std::string_view name, std::string_view doc);
std::optional<std::vector<TensorType>> infer_attention(AttendPart part, const InferContext& context);
IndexRule attention_rule(AttendPart part, std::span<const TensorType> operands, std::span<const TensorType> results);
Kernel lower_attention(AttendPart part, const LowerContext& context);
// Of the ops of the gradient, which are not differentiated once more: reports E0246.
std::vector<ValueId> no_second_gradient(const GradientContext& context);

template<AttendPart part>
OpDef attention_op(std::string_view name, std::string_view doc,
                   std::vector<ValueId> (*gradient)(const GradientContext&) = no_second_gradient) {
    OpDef def = attention_op_def(part, name, doc);
    def.infer = [](const InferContext& context) { return infer_attention(part, context); };
    def.rule = [](std::span<const TensorType> operands, std::span<const TensorType> results, const Attributes&) {
        return attention_rule(part, operands, results);
    };
    def.lower = [](const LowerContext& context) { return lower_attention(part, context); };
    def.gradient = gradient;
    def.attends = part;
    return def;
}

} // namespace shard
