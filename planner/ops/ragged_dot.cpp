#include "planner/graph/chain.h"
#include "planner/ops_support/contraction.h"
#include "planner/ops_support/ragged.h"

namespace shard {

namespace {

// Of x the product with the groups' matrices turned, of w the sums over the rows of each group. A wider cotangent is not
// rounded before it is multiplied.
std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const ValueId sizes = context.inputs[2];
    const DType own = chain.type(context.inputs[0]).dtype, wide = chain.type(context.cotangent).dtype;
    const ValueId x = chain.cast(context.inputs[0], wide), w = chain.cast(context.inputs[1], wide);
    const bool transposed = context.attributes.flag("transposed", false);
    std::vector<ValueId> gradients(3, -1);
    if (context.wanted[0])
        gradients[0] =
            chain.cast(chain("ragged_dot", {context.cotangent, w, sizes}, ragged_dot_attributes(!transposed)), own);
    if (context.wanted[1]) {
        const ValueId left = transposed ? context.cotangent : x, right = transposed ? x : context.cotangent;
        gradients[1] = chain.cast(
            chain("ragged_dot_gradient", {left, right, sizes}, ragged_gradient_attributes(chain.type(w).rank() - 3)),
            own);
    }
    internal_check(chain.ok(), "a gradient does not fit");
    return gradients;
}

} // namespace

const OpDef& op_ragged_dot() {
    static const OpDef def = [] {
        OpDef made = ragged_op<RaggedPart::rows>("ragged_dot",
                                                 "Rows in groups that follow each other, each times the matrix of its "
                                                 "group: sizes[g] rows for group g; rows "
                                                 "behind all groups give zeros.\n"
                                                 "{ragged_dot: [x, w, sizes]}",
                                                 gradient);
        made.attributes = {
            {"transposed", AttributeDef::Type::flag, false, "w is (groups, n, k); (groups, k, n) unless said"},
            result_type_argument()};
        return made;
    }();
    return def;
}

} // namespace shard
