// A value that waits in the host's memory between the forward pass, which makes it, and the backward pass, which reads
// the result. One op stands for the copy there and the copy back: they become two, each at its place, once it is known
// what a device holds (planner/optimize/offload.h).
#include "planner/ops_support/infer.h"
#include "planner/ops_support/move.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

namespace {

InferResult infer(const InferContext& context) { return InferResult{{context.operands[0]}}; }

Kernel lower(const LowerContext& context) { return copy_kernel(context.local_results[0]); }

std::vector<ValueId> gradient(const GradientContext& context) { return {context.cotangent}; }

} // namespace

const OpDef& op_host_copy() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "host_copy";
        made.doc = "x itself, which was in the host's memory in between.";
        made.infer = infer;
        made.rule = rule_pointwise;
        made.lower = lower;
        made.gradient = gradient;
        made.linear_in = {0};
        made.internal = true;
        return made;
    }();
    return def;
}

} // namespace shard
