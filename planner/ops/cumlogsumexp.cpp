#include "planner/ops_support/scan.h"

#include <limits>

namespace shard {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// An element is the share e^(x - y) of its result, and a result the share e^(y[t] - y[t + 1]) of the next one. Where x
// is -inf its share is 0, also of a result of -inf.
std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const ValueId x = context.inputs[0], y = context.output;
    const ValueId passed = chain("exp", {chain("sub", {y, after(chain, context, y, infinity)})});
    const ValueId share = chain("exp", {chain("sub", {x, y})});
    const ValueId all = chain("mul", {share, backwards(chain, context, passed)});
    const DType dtype = chain.type(x).dtype;
    return {chain("select", {chain("eq", x, -infinity), context.builder.scalar(0, dtype), all})};
}

} // namespace

const OpDef& op_cumlogsumexp() {
    static const OpDef def = scan_op<ScanOp::logsumexp>(
        "cumlogsumexp",
        "log(e^x[0] + ... + e^x[t]) for every t along a dim, without overflow.\n{cumlogsumexp: x, dim: length}",
        gradient);
    return def;
}

} // namespace shard
