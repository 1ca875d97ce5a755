#include "planner/ops_support/scan.h"

namespace shard {

namespace {

// A result gives the next one its factor; an element is a factor of what comes before it. Right for zeros too.
std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const ValueId sums = backwards(chain, context, after(chain, context, context.inputs[0], 0));
    return {chain("mul", {sums, before(chain, context, context.output, 1)})};
}

} // namespace

const OpDef& op_cumprod() {
    static const OpDef def = scan_op<ScanOp::prod>(
        "cumprod", "The product of an element and all before it along a dim.\n{cumprod: x, dim: length}", gradient);
    return def;
}

} // namespace shard
