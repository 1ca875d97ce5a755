// Poolings: what of each window of a value becomes one element. A file of planner/ops/ is then a line and a gradient.
#pragma once

#include "planner/graph/chain.h"
#include "planner/ops_support/sliding.h"

namespace shard {

// The dims along which windows slide, and how.
struct Pooling {
    std::vector<i64> dims;
    Slides slides;
};
Pooling pooling_of(const TensorType& operand, const Attributes& attributes);
// As arguments of an op that pools.
Attributes pooling_attributes(const Pooling& pooling);

// What does not depend on the reduction.
OpDef pool_op_def(std::string_view name, std::string_view doc);
IndexRule rule_pool(ReduceOp op, std::span<const TensorType> operands, std::span<const TensorType> results,
                    const Attributes& attributes);
Kernel lower_pool(ReduceOp op, const LowerContext& context);
std::optional<std::vector<Overlap>> overlaps_pool(ReduceOp op, const LowerContext& context);

template<ReduceOp op>
OpDef pool_op(std::string_view name, std::string_view doc, std::vector<ValueId> (*gradient)(const GradientContext&)) {
    OpDef def = pool_op_def(name, doc);
    def.rule = [](std::span<const TensorType> operands, std::span<const TensorType> results,
                  const Attributes& attributes) { return rule_pool(op, operands, results, attributes); };
    def.lower = [](const LowerContext& context) { return lower_pool(op, context); };
    def.overlaps = [](const LowerContext& context) { return overlaps_pool(op, context); };
    def.gradient = gradient;
    if (op == ReduceOp::sum) def.linear_in = {0};
    return def;
}

// max_pool_gradient and min_pool_gradient: operands are x and what is given for each window.
OpDef pool_gradient_def(std::string_view name, std::string_view doc, bool smallest);
Kernel lower_pool_gradient(bool smallest, const LowerContext& context);
std::optional<std::vector<Overlap>> overlaps_pool_gradient(bool smallest, const LowerContext& context);
// Of max_pool and min_pool, by the op of this name; E0246 if windows are dilated.
std::vector<ValueId> selected_gradient(std::string_view op, const GradientContext& context);

} // namespace shard
