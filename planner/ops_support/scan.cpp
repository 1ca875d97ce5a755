#include "planner/ops_support/scan.h"

#include "planner/ops_support/gradient.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/rule_maker.h"

#include <fmt/format.h>

#include <limits>

namespace shard {

namespace {

i64 dim_of(const Attributes& attributes, int rank) { return dims_or_last(attributes, rank)[0]; }

void complete(std::span<const TensorType> operands, std::span<const TensorType>, Attributes& attributes) {
    attributes.set("dim", std::vector<i64>{dim_of(attributes, operands[0].rank())});
}

// Every element needs those before it: the dim is whole on every device.
IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType>, const Attributes& attributes) {
    const i64 dim = dim_of(attributes, operands[0].rank());
    RuleMaker maker(operands.size(), 1);
    for (i64 d = 0; d < operands[0].rank(); ++d) {
        const int factor =
            maker.factor(d == dim ? FactorKind::need_replication : FactorKind::pass_through, operands[0].shape[d]);
        for (size_t n = 0; n < operands.size(); ++n) maker.operand(n).push_back({factor});
        maker.result().push_back({factor});
    }
    return maker.rule();
}

ValueId shifted(Chain& chain, const GradientContext& context, ValueId value, i64 by, double edge) {
    const std::vector<i64>& dim = context.attributes.integers("dim");
    if (context.attributes.flag("reverse", false)) by = -by;
    return chain(
        "pad", {value},
        attributes_of({{"dim", dim}, {"low", std::vector<i64>{by}}, {"high", std::vector<i64>{-by}}, {"value", edge}}));
}

} // namespace

InferResult infer_scan(ScanOp op, const InferContext& context) {
    const bool real = op == ScanOp::logsumexp || op == ScanOp::linear;
    for (size_t n = 0; n < context.operands.size(); ++n)
        if (!check_dtype(context, n, real ? is_floating : is_numeric, real ? "a floating-point type" : "numbers"))
            return std::nullopt;
    if (!check_same_dtype(context)) return std::nullopt;
    const TensorType& type = context.operands[0];
    if (type.rank() == 0) {
        context.diagnostics.error(
            "E0223", context.span,
            fmt::format("'{}' runs along a dim, and {} is a scalar", context.op, operand_text(context, 0)));
        return std::nullopt;
    }
    for (size_t n = 1; n < context.operands.size(); ++n) {
        if (context.operands[n].shape == type.shape) continue;
        context.diagnostics
            .error("E0223", context.span,
                   fmt::format("'{}' takes operands of one shape, which {} and {} have not", context.op,
                               operand_text(context, 0), operand_text(context, n)))
            .help("write `broadcast` for what is repeated");
        return std::nullopt;
    }
    return InferResult{{make_type(type.dtype, type.shape)}};
}

Kernel lower_scan(ScanOp op, const LowerContext& context) {
    return Scan{static_cast<int>(dim_attribute(context.attributes)), op, context.attributes.flag("reverse", false)};
}

ValueId before(Chain& chain, const GradientContext& context, ValueId value, double edge) {
    return shifted(chain, context, value, 1, edge);
}

ValueId after(Chain& chain, const GradientContext& context, ValueId value, double edge) {
    return shifted(chain, context, value, -1, edge);
}

ValueId backwards(Chain& chain, const GradientContext& context, ValueId passed) {
    return chain("linear_recurrence", {passed, context.cotangent},
                 attributes_of({{"dim", context.attributes.integers("dim")},
                                {"reverse", !context.attributes.flag("reverse", false)}}));
}

std::vector<ValueId> scan_extremum_gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const DType dtype = chain.type(context.output).dtype;
    const ValueId none = context.builder.scalar(0, dtype), half = context.builder.scalar(0.5, dtype),
                  all = context.builder.scalar(1, dtype);
    const ValueId earlier = before(chain, context, context.output, std::numeric_limits<double>::quiet_NaN());
    const ValueId stays = chain("eq", {context.output, earlier}); // never the first
    const ValueId is_own = chain("eq", {context.output, context.inputs[0]});
    const ValueId own = chain("select", {is_own, chain("select", {stays, half, all}), none});
    const ValueId passed = chain("select", {stays, chain("select", {is_own, half, all}), none});
    return {chain("mul", {own, backwards(chain, context, after(chain, context, passed, 0))})};
}

OpDef scan_op_def(std::string_view name, std::string_view doc) {
    OpDef def;
    def.name = name;
    def.doc = doc;
    def.operands = {1, 1};
    def.attributes = {{"dim", AttributeDef::Type::dim, false, "the dim to run along; the last unless said"},
                      {"reverse", AttributeDef::Type::flag, false, "from the last element to the first"}};
    def.complete = complete;
    def.rule = rule;
    return def;
}

} // namespace shard
