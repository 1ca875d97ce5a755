#include "planner/ops_support/scan.h"

namespace shard {

namespace {

std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const ValueId sums = backwards(chain, context, after(chain, context, context.inputs[0], 0));
    return {chain("mul", {sums, before(chain, context, context.output, 0)}), sums};
}

} // namespace

const OpDef& op_linear_recurrence() {
    static const OpDef def = [] {
        OpDef made =
            scan_op<ScanOp::linear>("linear_recurrence",
                                    "h[t] = a[t] * h[t - 1] + b[t] along a dim, from 0, as of a state space model.\n"
                                    "{linear_recurrence: [a, b], dim: length}",
                                    gradient);
        made.linear_in = {1};
        return made;
    }();
    return def;
}

} // namespace shard
