#include "planner/ops_support/gradient.h"

#include <algorithm>

namespace shard {

ValueId sum_to(Chain& chain, ValueId value, const TensorType& type) {
    const Shape shape = chain.type(value).shape;
    const size_t more = shape.size() - type.shape.size();
    std::vector<i64> dims;
    for (size_t d = 0; d < shape.size(); ++d)
        if (d < more || type.shape[d - more] != shape[d]) dims.push_back(static_cast<i64>(d));
    if (dims.empty()) return value;
    const ValueId sum = chain("reduce_sum", {value}, attributes_of({{"dims", dims}}));
    if (dims.size() == more) return sum;
    return chain("reshape", {sum}, shape_of(type.shape, type.logical));
}

ValueId zeros_of(Chain& chain, ValueId value) {
    const TensorType type = chain.type(value);
    Attributes attributes = shape_of(type.shape, type.logical);
    attributes.set("value", std::vector<double>{0});
    attributes.set("dtype", std::string(name(type.dtype)));
    return chain("constant", {}, std::move(attributes));
}

ValueId repeat_along(Chain& chain, ValueId reduced, const std::vector<i64>& dims, const TensorType& type) {
    std::vector<i64> kept;
    for (i64 d = 0; d < type.rank(); ++d)
        if (std::find(dims.begin(), dims.end(), d) == dims.end()) kept.push_back(d);
    Attributes attributes = shape_of(type.shape, type.logical);
    attributes.set("dims", kept);
    return chain("broadcast", {reduced}, attributes);
}

std::vector<ValueId> pointwise_gradient(const GradientContext& context,
                                        std::initializer_list<GradientFormula> formulas) {
    Chain chain(context.builder);
    std::vector<ValueId> gradients(context.inputs.size(), -1);
    for (size_t n = 0; n < gradients.size(); ++n) {
        const GradientFormula formula = formulas.begin()[n];
        if (!context.wanted[n] || !formula) continue;
        const TensorType type = context.builder.type(context.inputs[n]);
        gradients[n] = sum_to(chain, formula(chain, context), type);
    }
    internal_check(chain.ok(), "a gradient does not fit");
    return gradients;
}

namespace {

ValueId share(Chain& chain, const GradientContext& at, size_t mine) {
    const DType dtype = chain.type(at.cotangent).dtype;
    const ValueId both = chain("eq", {at.inputs[1 - mine], at.output});
    const ValueId part = chain("select", {both, chain("mul", at.cotangent, 0.5), at.cotangent});
    return chain("select", {chain("eq", {at.inputs[mine], at.output}), part, at.builder.scalar(0, dtype)});
}

} // namespace

std::vector<ValueId> extremum_gradient(const GradientContext& context) {
    const GradientFormula left = [](Chain& chain, const GradientContext& at) { return share(chain, at, 0); };
    const GradientFormula right = [](Chain& chain, const GradientContext& at) { return share(chain, at, 1); };
    return pointwise_gradient(context, {left, right});
}

std::vector<ValueId> reduce_extremum_gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const TensorType type = chain.type(context.inputs[0]);
    const std::vector<i64>& dims = context.attributes.integers("dims");
    const ValueId chosen = chain("eq", {context.inputs[0], repeat_along(chain, context.output, dims, type)});
    const ValueId ones = chain.cast(chosen, type.dtype);
    const ValueId count = chain("reduce_sum", {ones}, attributes_of({{"dims", dims}}));
    const ValueId part = repeat_along(chain, chain("div", {context.cotangent, count}), dims, type);
    const ValueId result = chain("select", {chosen, part, context.builder.scalar(0, type.dtype)});
    internal_check(chain.ok(), "a gradient does not fit");
    return {result};
}

} // namespace shard
