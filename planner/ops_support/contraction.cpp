#include "planner/ops_support/contraction.h"

#include "planner/ops_support/infer.h"

#include "planner/graph/chain.h"
#include "planner/ops_support/rule_maker.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

bool has(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }

// The labels in the order in which propagation shall prefer them.
std::string ordered_labels(const Contraction& contraction) {
    const std::string &left = contraction.operands[0], &right = contraction.operands[1];
    std::string batch, left_only, right_only, contracted;
    for (char label : left)
        (!has(contraction.result, label) ? contracted : has(right, label) ? batch : left_only) += label;
    for (char label : right)
        if (!has(left, label)) right_only += label;
    return batch + left_only + right_only + contracted;
}

} // namespace

IndexRule contraction_rule(const Contraction& contraction, std::span<const TensorType> operands) {
    const std::string order = ordered_labels(contraction);
    RuleMaker maker(2, 1);
    for (char label : order) {
        const size_t in_left = contraction.operands[0].find(label), in_right = contraction.operands[1].find(label);
        const i64 size = in_left != std::string::npos ? operands[0].shape[in_left] : operands[1].shape[in_right];
        maker.factor(has(contraction.result, label) ? FactorKind::pass_through : FactorKind::reduction, size);
    }
    for (size_t n = 0; n < 2; ++n)
        for (char label : contraction.operands[n]) maker.operand(n).push_back({static_cast<int>(order.find(label))});
    for (char label : contraction.result) maker.result().push_back({static_cast<int>(order.find(label))});
    return maker.rule();
}

Contract contraction_kernel(const Contraction& contraction) {
    const std::string order = ordered_labels(contraction);
    const auto labels = [&order](const std::string& of) {
        std::vector<int> indices;
        for (char label : of) indices.push_back(static_cast<int>(order.find(label)));
        return indices;
    };
    return {labels(contraction.operands[0]), labels(contraction.operands[1]), labels(contraction.result)};
}

AttributeDef result_type_argument() {
    return {"result", AttributeDef::Type::dtype, false,
            "the result's element type: that of the operands unless said, or f32 of narrower ones"};
}

bool check_factors(const InferContext& context) {
    const auto is_narrow_float = [](const TensorType& type) {
        return is_floating(type.dtype) && computed_as(type.dtype) != type.dtype;
    };
    const bool sums_wide = context.operands.size() == 2 && context.attributes.has("result") &&
                           std::all_of(context.operands.begin(), context.operands.end(), is_narrow_float) &&
                           context.attributes.string("result") == name(computed_as(context.operands[0].dtype));
    return sums_wide || check_same_dtype(context);
}

std::optional<DType> contraction_dtype(const InferContext& context) {
    const DType own = context.operands[0].dtype;
    if (!context.attributes.has("result")) return own;
    const std::optional<DType> asked = parse_dtype(context.attributes.string("result"));
    if (asked == own || (asked == computed_as(own) && is_floating(own))) return asked;
    context.diagnostics
        .error("E0226", context.span,
               fmt::format("'{}' of {} operands has a result of {}{}, not {}", context.op, name(own), name(own),
                           computed_as(own) == own ? "" : fmt::format(" or {}", name(computed_as(own))),
                           context.attributes.string("result")))
        .help("sums are made in that type; `cast` the operands, or the result, for another one");
    return std::nullopt;
}

std::vector<ValueId> contraction_gradient(const Contraction& contraction, const GradientContext& context) {
    Chain chain(context.builder);
    const std::string &left = contraction.operands[0], &right = contraction.operands[1], &result = contraction.result;
    // A wider cotangent is not rounded before it is multiplied.
    const auto einsum = [&](std::string equation, ValueId a, ValueId b, ValueId of) {
        const DType wide = chain.type(context.cotangent).dtype;
        const ValueId made = chain("einsum", {chain.cast(a, wide), chain.cast(b, wide)},
                                   attributes_of({{"equation", std::move(equation)}}));
        return chain.cast(made, context.builder.type(of).dtype);
    };
    std::vector<ValueId> gradients(2, -1);
    if (context.wanted[0])
        gradients[0] = einsum(fmt::format("{},{}->{}", result, right, left), context.cotangent, context.inputs[1],
                              context.inputs[0]);
    if (context.wanted[1])
        gradients[1] = einsum(fmt::format("{},{}->{}", left, result, right), context.inputs[0], context.cotangent,
                              context.inputs[1]);
    internal_check(chain.ok(), "a gradient does not fit");
    return gradients;
}

bool is_plain(const Contraction& contraction) {
    if (contraction.operands.size() != 2) return false;
    for (size_t n = 0; n < 2; ++n) {
        const std::string &labels = contraction.operands[n], &other = contraction.operands[1 - n];
        for (size_t d = 0; d < labels.size(); ++d) {
            if (labels.find(labels[d], d + 1) != std::string::npos) return false;
            if (!has(other, labels[d]) && !has(contraction.result, labels[d])) return false;
        }
    }
    return true;
}

} // namespace shard
