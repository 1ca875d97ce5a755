#include "planner/ops_support/infer.h"
#include "planner/ops_support/pointwise.h"

#include <fmt/format.h>

namespace shard {

namespace {

InferResult infer(const InferContext& context) {
    for (const TensorType& operand : context.operands)
        if (operand.dtype != DType::u32) {
            context.diagnostics.error("E0224", context.span, "the words of a key, and what is folded in, are u32");
            return std::nullopt;
        }
    const i64 word = context.attributes.integer("word");
    if (word != 0 && word != 1) {
        context.diagnostics.error("E0226", context.span, fmt::format("a key has the words 0 and 1, not {}", word));
        return std::nullopt;
    }
    const std::optional<Shape> shape = broadcast_shape(context);
    if (!shape) return std::nullopt;
    return InferResult{{make_type(DType::u32, *shape)}};
}

Kernel lower(const LowerContext& context) {
    return lower_pointwise(context.attributes.integer("word") == 0 ? ScalarOp::fold_in_0 : ScalarOp::fold_in_1,
                           context);
}

} // namespace

const OpDef& op_fold_in_word() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "fold_in_word";
        made.doc = "One word of the keys that come of keys, by their words, and numbers, element by element (Threefry "
                   "2x32).\n{fold_in_word: [k0, k1, n], word: 0}";
        made.operands = {3, 3};
        made.attributes = {{"word", AttributeDef::Type::integer, true, "0 or 1"}};
        made.infer = infer;
        made.rule = rule_pointwise;
        made.lower = lower;
        made.op_class = OpDef::Class::pointwise;
        return made;
    }();
    return def;
}

} // namespace shard
