#include "planner/ops_support/attention.h"

namespace shard {

const OpDef& op_attention_key_gradient() {
    static const OpDef def = attention_op<AttendPart::key_gradient>(
        "attention_key_gradient",
        "The gradient of k of an attention whose result has the gradient `given`: scale * ds^T q, where ds = p * "
        "(given "
        "v^T - mean), p = e^(q k^T * scale - logsumexp), and mean is the sum of given * result over head_dim.\n"
        "{attention_key_gradient: [q, k, v, given, logsumexp, mean], causal: true}");
    return def;
}

} // namespace shard
