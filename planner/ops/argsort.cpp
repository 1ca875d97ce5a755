#include "planner/model/type_limits.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/rule_maker.h"

#include <fmt/format.h>

namespace shard {

namespace {

i64 dim_of(const Attributes& attributes, int rank) { return dims_or_last(attributes, rank)[0]; }

InferResult infer(const InferContext& context) {
    const TensorType& type = context.operands[0];
    const auto refuse = [&](const char* code, std::string message, std::string help) {
        context.diagnostics.error(code, context.span, std::move(message)).help(std::move(help));
        return std::nullopt;
    };
    if (type.rank() == 0)
        return refuse("E0223",
                      fmt::format("'{}' orders along a dim, and {} is a scalar", context.op, operand_text(context, 0)),
                      "give it a value with dims");
    for (size_t n = 1; n < context.operands.size(); ++n)
        if (context.operands[n].shape != type.shape)
            return refuse("E0223",
                          fmt::format("'{}' takes operands of one shape, which {} and {} have not", context.op,
                                      operand_text(context, 0), operand_text(context, n)),
                          "write `broadcast` for what is repeated");
    Shape shape = type.shape;
    i64& size = shape[dim_of(context.attributes, type.rank())];
    if (!can_hold(DType::i32, static_cast<double>(size - 1)))
        return refuse("E0226", fmt::format("'{}' counts {} positions, and they are i32", context.op, size),
                      "order along a shorter dim");
    if (context.attributes.has("first")) {
        const i64 first = context.attributes.integers("first")[0];
        if (first < 1 || first > size)
            return refuse("E0226", fmt::format("'{}' cannot take the first {} of {}", context.op, first, size),
                          "take at least 1 and at most all");
        size = first;
    }
    return InferResult{{make_type(DType::i32, shape)}};
}

void complete(std::span<const TensorType> operands, std::span<const TensorType>, Attributes& attributes) {
    attributes.set("dim", std::vector<i64>{dim_of(attributes, operands[0].rank())});
}

// An element's rank depends on all others: the dim is whole on every device.
IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType> results,
               const Attributes& attributes) {
    const i64 dim = dim_of(attributes, operands[0].rank());
    RuleMaker maker(operands.size(), 1);
    for (i64 d = 0; d < operands[0].rank(); ++d) {
        const FactorKind kind = d == dim ? FactorKind::need_replication : FactorKind::pass_through;
        const i64 size = operands[0].shape[d], kept = results[0].shape[d];
        const int factor = maker.factor(kind, size);
        for (size_t n = 0; n < operands.size(); ++n) maker.operand(n).push_back({factor});
        maker.result().push_back({kept == size ? factor : maker.factor(kind, kept)});
    }
    return maker.rule();
}

Kernel lower(const LowerContext& context) {
    return Sort{static_cast<int>(dim_attribute(context.attributes)), context.attributes.flag("descending", false)};
}

} // namespace

const OpDef& op_argsort() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "argsort";
        made.doc =
            "The positions, as i32, of the elements along a dim in ascending order. Equal ones stay in order, and "
            "NaN is the largest number; of several operands the first one counts before the second.\n"
            "{argsort: x, dim: -1, descending: true}";
        made.operands = {1, -1};
        made.attributes = {{"dim", AttributeDef::Type::dim, false, "the dim to order along; the last unless said"},
                           {"descending", AttributeDef::Type::flag, false, "the largest first"},
                           {"first", AttributeDef::Type::size, false, "only so many; all unless said"}};
        made.infer = infer;
        made.complete = complete;
        made.rule = rule;
        made.lower = lower;
        return made;
    }();
    return def;
}

} // namespace shard
