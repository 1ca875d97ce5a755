#include "planner/ops_support/attention.h"

namespace shard {

const OpDef& op_attention_logsumexp() {
    static const OpDef def = attention_op<AttendPart::logsumexp>(
        "attention_logsumexp",
        "log of the sum of e^(q k^T * scale) over the keys, for each query and head, in f32 at least: with it the "
        "gradient of attention makes its scores again.\n"
        "{attention_logsumexp: [q, k], causal: true}");
    return def;
}

} // namespace shard
