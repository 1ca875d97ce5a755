#include "planner/composites_support/labels.h"

namespace shard {

namespace {

// The least number among those of the largest elements, or of those that are NaN.
BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes&, Span span) {
    const ValueId x = operands[0];
    if (!require_floating(builder, x, "argmax", 1, span)) return std::nullopt;
    const TensorType type = builder.type(x);
    const i64 last = type.rank() - 1;
    Chain chain(builder);
    const ValueId largest = chain("eq", {x, chain("reduce_max", {x}, keep_dim(last))});
    const ValueId is_largest = chain("or", {largest, chain("ne", {x, x})}); // NaN is the largest
    const ValueId none = chain.scalar(static_cast<double>(type.shape.back() - 1), DType::i32);
    const ValueId candidates = chain("select", {is_largest, classes_of(chain, x, DType::i32), none});
    return chain.result(chain("reduce_min", {candidates}, attributes_of({{"dims", std::vector<i64>{last}}})));
}

} // namespace

const CompositeDef& composite_argmax() {
    static const CompositeDef def = {
        "argmax",
        "Where the largest element is along the last dim; the first of several. NaN is larger than all others.\n"
        "{argmax: logits}",
        {1, 1},
        {},
        build};
    return def;
}

} // namespace shard
