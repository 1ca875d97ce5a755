// The running reductions: cumsum, cumprod, cummax, cummin, cumlogsumexp and linear_recurrence.
#pragma once

#include "planner/graph/chain.h"

namespace shard {

// What does not depend on the reduction; `scan_op` makes an op of it.
OpDef scan_op_def(std::string_view name, std::string_view doc);
std::optional<std::vector<TensorType>> infer_scan(ScanOp op, const InferContext& context);
Kernel lower_scan(ScanOp op, const LowerContext& context);

// For the gradients: what stands one place before or after along the dim, in the direction of the scan; `edge` where
// nothing does.
ValueId before(Chain& chain, const GradientContext& context, ValueId value, double edge);
ValueId after(Chain& chain, const GradientContext& context, ValueId value, double edge);
// The gradients of the results, each with those that come after it, times what a result gave to the next one:
// sum[t] = cotangent[t] + passed[t] * sum[t + 1]. Stable wherever `passed` is at most 1.
ValueId backwards(Chain& chain, const GradientContext& context, ValueId passed);
// Of cummax and cummin: of a step whose two operands are equal each gets half, as of max.
std::vector<ValueId> scan_extremum_gradient(const GradientContext& context);

template<ScanOp op>
OpDef scan_op(std::string_view name, std::string_view doc, std::vector<ValueId> (*gradient)(const GradientContext&)) {
    OpDef def = scan_op_def(name, doc);
    if (op == ScanOp::linear) def.operands = {2, 2};
    def.infer = [](const InferContext& context) { return infer_scan(op, context); };
    def.lower = [](const LowerContext& context) { return lower_scan(op, context); };
    def.gradient = gradient;
    def.scans = op;
    return def;
}

} // namespace shard
