#include "planner/graph/chain.h"

#include "planner/ops_support/infer.h"
#include "planner/ops_support/reduce.h"

namespace shard {

namespace {

// An infinite maximum is not subtracted: inf - inf would be NaN, where the answer is the infinity.
BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    const ValueId x = operands[0];
    if (!require_floating(builder, x, "logsumexp", 0, span)) return std::nullopt;
    const TensorType type = builder.type(x);
    const std::vector<i64> dims = dims_or_all(attributes, type.rank());
    const Attributes keep = attributes_of({{"dims", dims}, {"keepdims", true}});
    Chain chain(builder);
    const ValueId largest = chain("reduce_max", {x}, keep);
    const ValueId shift = chain("select", {chain("is_finite", {largest}), largest, chain.scalar(0, type.dtype)});
    const ValueId sum = chain("reduce_sum", {chain("exp", {chain("sub", {x, shift})})}, keep);
    const ValueId result = chain("add", {chain("log", {sum}), shift});
    if (attributes.flag("keepdims", false)) return chain.result(result);
    TensorType reduced = make_type(type.dtype, {});
    for (int d = 0, next = 0; d < type.rank(); ++d) {
        if (next < static_cast<int>(dims.size()) && dims[next] == d) {
            ++next;
            continue;
        }
        reduced.shape.push_back(type.shape[d]);
        reduced.logical.push_back(type.logical[d]);
    }
    return chain.result(chain("reshape", {result}, shape_of(reduced.shape, reduced.logical)));
}

// g exp(x - y): the operand and the result are kept.
std::vector<ValueId> gradient(const GradientContext& at) {
    Chain chain(at.builder);
    TensorType rows = chain.type(at.inputs[0]);
    for (i64 d : dims_or_all(at.attributes, rows.rank())) {
        rows.shape[d] = 1;
        rows.logical[d].clear();
    }
    const auto by_row = [&](ValueId id) {
        return chain.type(id).shape == rows.shape ? id : chain("reshape", {id}, shape_of(rows.shape, rows.logical));
    };
    const ValueId shares = chain("exp", {chain("sub", {at.inputs[0], by_row(at.output)})});
    const ValueId result = chain("mul", {by_row(at.cotangent), shares});
    internal_check(chain.ok(), "a gradient does not fit");
    return {result};
}

} // namespace

const CompositeDef& composite_logsumexp() {
    static const CompositeDef def = {
        "logsumexp", "log(sum of exp(x)) over some dims, without overflow.\n{logsumexp: x, dims: [-1]}",
        {1, 1},      reduce_attributes("the dims to sum over; all unless said"),
        build,       gradient};
    return def;
}

} // namespace shard
