#include "planner/composites_support/labels.h"

namespace shard {

namespace {

// Of the logits that are not the label's only their sum is read, so the classes may be split over devices: two sums of
// one number per position are then all that is sent.
BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    constexpr std::string_view name = "softmax_cross_entropy";
    const ValueId logits = operands[0];
    if (!require_floating(builder, logits, name, 1, span)) return std::nullopt;
    if (!check_labels(builder, logits, operands[1], name, span)) return std::nullopt;
    const i64 last = builder.type(logits).rank() - 1;
    const Attributes along = attributes_of({{"dims", std::vector<i64>{last}}});
    Chain chain(builder);
    const ValueId largest = chain("stop_gradient", {chain("reduce_max", {logits}, keep_dim(last))});
    const ValueId shifted = chain("sub", {logits, largest});
    const ValueId sum = chain("reduce_sum", {chain("exp", {shifted})}, along);
    const ValueId zero = chain.scalar(0, chain.type(logits).dtype);
    const ValueId chosen = chain("select", {is_label(chain, logits, operands[1]), shifted, zero});
    const ValueId loss = chain("sub", {chain("log", {sum}), chain("reduce_sum", {chosen}, along)});
    if (attributes.flag("per_position", false)) return chain.result(loss);
    return chain.result(chain("mean", {loss}));
}

} // namespace

const CompositeDef& composite_softmax_cross_entropy() {
    static const CompositeDef def = {
        "softmax_cross_entropy",
        "-log of the softmax of the logits at the label, along the last dim; the mean over all positions.\n"
        "{softmax_cross_entropy: [logits, labels]}",
        {2, 2},
        {{"per_position", AttributeDef::Type::flag, false, "one number for each position instead of their mean"}},
        build};
    return def;
}

} // namespace shard
