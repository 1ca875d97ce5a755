#include "planner/ops_support/attention.h"

namespace shard {

const OpDef& op_attention_value_gradient() {
    static const OpDef def = [] {
        OpDef made = attention_op<AttendPart::value_gradient>(
            "attention_value_gradient",
            "The gradient of v of an attention whose result has the gradient `given`: p^T given, where p = e^(q k^T * "
            "scale - logsumexp).\n"
            "{attention_value_gradient: [q, k, given, logsumexp], causal: true}");
        made.linear_in = {2};
        return made;
    }();
    return def;
}

} // namespace shard
