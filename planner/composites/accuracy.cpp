#include "planner/composites_support/labels.h"

namespace shard {

namespace {

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes&, Span span) {
    if (!require_floating(builder, operands[0], "accuracy", 1, span)) return std::nullopt;
    if (!check_labels(builder, operands[0], operands[1], "accuracy", span)) return std::nullopt;
    const TensorType labels = builder.type(operands[1]);
    Chain chain(builder);
    const std::string dtype(name(labels.dtype));
    const ValueId guess = chain("cast", {chain("argmax", {operands[0]})}, attributes_of({{"dtype", dtype}}));
    const ValueId right = chain("eq", {guess, operands[1]});
    const ValueId sum = chain("reduce_sum", {chain.cast(right, DType::f32)});
    const ValueId count = chain.scalar(static_cast<double>(labels.elements()), DType::f32);
    return chain.results({sum, count});
}

} // namespace

const CompositeDef& composite_accuracy() {
    static const CompositeDef def = {"accuracy",
                                     "How many positions have their largest logit at the label, and how many positions "
                                     "there are; as a metric, their quotient.\n"
                                     "{accuracy: [logits, labels]}",
                                     {2, 2},
                                     {},
                                     build};
    return def;
}

} // namespace shard
