#include "planner/ops_support/attention.h"

namespace shard {

const OpDef& op_attention_with_logsumexp() {
    static const OpDef def = attention_op<AttendPart::with_logsumexp>(
        "attention_with_logsumexp",
        "The values of attention, and behind them as one more element of head_dim their logsumexp, in f32 at least: of "
        "two such results over other keys, with l the larger logsumexp, that over all keys has the mean of their "
        "values "
        "by the weights e^(logsumexp - l).\n"
        "{attention_with_logsumexp: [q, k, v], causal: true}");
    return def;
}

} // namespace shard
