#include "planner/ops_support/attention.h"

namespace shard {

const OpDef& op_attention_bias_gradient() {
    static const OpDef def = attention_op<AttendPart::bias_gradient>(
        "attention_bias_gradient",
        "The gradient of the bias of an attention whose result has the gradient `given`: p * (given v^T - mean), where "
        "p = e^(q k^T * scale + bias - logsumexp), and mean is the sum of given * result over head_dim; summed where "
        "the bias is 1.\n"
        "{attention_bias_gradient: [q, k, v, given, logsumexp, mean, bias], causal: true}");
    return def;
}

} // namespace shard
