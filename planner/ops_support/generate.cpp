#include "planner/ops_support/generate.h"

#include "planner/ops_support/infer.h"
#include "planner/ops_support/rule_maker.h"

namespace shard {

std::optional<DType> generated_dtype(const InferContext& context, DType fallback) {
    return context.attributes.has("dtype") ? parse_dtype(context.attributes.string("dtype")) : fallback;
}

TensorType generated_type(const InferContext& context, DType dtype) {
    TensorType type =
        make_type(dtype, context.attributes.has("shape") ? context.attributes.integers("shape") : Shape{});
    if (context.attributes.has("axes")) type.logical = context.attributes.strings("axes");
    return type;
}

IndexRule rule_generated(std::span<const TensorType>, std::span<const TensorType> results, const Attributes&) {
    RuleMaker maker(0, 1);
    for (i64 size : results[0].shape) maker.result().push_back({maker.factor(FactorKind::pass_through, size)});
    return maker.rule();
}

Kernel generate(const LowerContext& context, std::variant<Fill, Literal, Iota, Random> source) {
    Generate kernel;
    kernel.source = std::move(source);
    kernel.shape = context.global_results[0].shape;
    for (int d = 0; d < context.global_results[0].rank(); ++d) kernel.start.push_back(context.result_start(0, d));
    return kernel;
}

} // namespace shard
