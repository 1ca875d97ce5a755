#include "planner/ops_support/attention.h"
#include "planner/graph/chain.h"
#include "planner/graph/types_of.h"
#include "planner/ops_support/attention_drop.h"
#include "plans/kernel/attend_pairs.h"

namespace shard {

namespace {

// The scores are made again from q and k. A softmax stays the same where all scores of a query grow alike, so what all
// their gradients have in common, `mean`, is taken off.
std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const std::vector<TensorType> types = types_of(context.builder.graph(), context.inputs);
    const int drop = attention_scalars(AttendPart::values, types, context.attributes).drop(); // and what follows it
    const std::vector<ValueId> behind(context.inputs.begin() + 3, context.inputs.end()),
        of_scores(behind.begin(), drop < 0 ? behind.end() : behind.begin() + drop - 3);
    const auto part = [&](std::string_view op, std::vector<ValueId> operands) {
        operands.insert(operands.end(), behind.begin(), behind.end());
        return chain(op, std::move(operands), context.attributes);
    };
    const ValueId q = context.inputs[0], k = context.inputs[1], v = context.inputs[2], given = context.cotangent;
    const DType wide = computed_as(chain.type(q).dtype);
    std::vector<ValueId> of_logsumexp = {q, k}; // of all weights, dropped or not
    of_logsumexp.insert(of_logsumexp.end(), of_scores.begin(), of_scores.end());
    const ValueId logsumexp = chain("attention_logsumexp", of_logsumexp, without_drop(context.attributes));
    std::vector<ValueId> gradients(context.inputs.size(), -1);
    const int bias = attend_pairs(AttendPart::values, types).bias;
    const bool of_bias = bias >= 0 && context.wanted[static_cast<size_t>(bias)];
    if (context.wanted[0] || context.wanted[1] || of_bias) {
        const ValueId products = chain("mul", {chain.cast(given, wide), chain.cast(context.output, wide)});
        const ValueId mean = chain("reduce_sum", {products}, attributes_of({{"dims", std::vector<i64>{3}}}));
        if (context.wanted[0]) gradients[0] = part("attention_query_gradient", {q, k, v, given, logsumexp, mean});
        if (context.wanted[1]) gradients[1] = part("attention_key_gradient", {q, k, v, given, logsumexp, mean});
        if (of_bias)
            gradients[static_cast<size_t>(bias)] = part("attention_bias_gradient", {q, k, v, given, logsumexp, mean});
    }
    if (context.wanted[2]) gradients[2] = part("attention_value_gradient", {q, k, given, logsumexp});
    internal_check(chain.ok(), "a gradient does not fit");
    return gradients;
}

} // namespace

const OpDef& op_attention() {
    static const OpDef def = [] {
        OpDef made = attention_op<AttendPart::values>(
            "attention",
            "softmax(q k^T * scale) v for each head, without holding the scores: q is (batch, queries, heads, "
            "head_dim), "
            "k and v are (batch, keys, heads, head_dim); q has a multiple of the heads that k and v have, and groups "
            "of "
            "them share. Behind them may stand, in this order: a floating-point bias, which "
            "is added to the scores, and a bool mask, which hides keys where it is false, both (batch, heads, queries, "
            "keys) or 1 where all are alike; segments of the queries and of the keys, integers (batch, length), which "
            "see their own alone; the position of the first query among the keys, 0 unless given. A query that "
            "sees no key has the result 0. With dropout some weights are 0 in training, others in every step; the sum "
            "that they are shares of is of all. With a key (two u32 words) behind all other operands they are those of "
            "bernoulli under it, in every mode.\n"
            "{attention: [q, k, v, bias, mask], causal: true}",
            gradient);
        made.linear_in = {2};
        made.splits = drops_without_bits;
        made.expand = with_bits;
        return made;
    }();
    return def;
}

} // namespace shard
