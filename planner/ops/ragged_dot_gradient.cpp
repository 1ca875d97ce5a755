#include "planner/graph/chain.h"
#include "planner/ops_support/contraction.h"
#include "planner/ops_support/ragged.h"

namespace shard {

namespace {

std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const ValueId sizes = context.inputs[2];
    const DType own = chain.type(context.inputs[0]).dtype, wide = chain.type(context.cotangent).dtype;
    std::vector<ValueId> gradients(3, -1);
    for (size_t n = 0; n < 2; ++n)
        if (context.wanted[n])
            gradients[n] =
                chain.cast(chain("ragged_dot", {chain.cast(context.inputs[1 - n], wide), context.cotangent, sizes},
                                 ragged_dot_attributes(n == 0)),
                           own);
    internal_check(chain.ok(), "a gradient does not fit");
    return gradients;
}

} // namespace

const OpDef& op_ragged_dot_gradient() {
    static const OpDef def = [] {
        OpDef made = ragged_op<RaggedPart::groups>(
            "ragged_dot_gradient",
            "The gradient of w of a ragged_dot whose result has the gradient `given`: for each group the sum over its "
            "rows of x times given.\n"
            "{ragged_dot_gradient: [x, given, sizes]}",
            gradient);
        made.attributes = {{"batch", AttributeDef::Type::integer, false,
                            "how many of the dims before the rows, the last ones, w has too; 0 unless said"},
                           result_type_argument()};
        return made;
    }();
    return def;
}

} // namespace shard
