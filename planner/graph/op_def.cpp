#include "planner/graph/op_def.h"

#include "planner/graph/optimizer.h"

#include <algorithm>

namespace shard {

#define REGISTER(stem) const OpDef& op_##stem();
#include "op_registry.inc"
#undef REGISTER

#define REGISTER(stem) const CompositeDef& composite_##stem();
#include "composite_registry.inc"
#undef REGISTER

namespace {

const std::vector<const OpDef*>& registered_ops() {
    static const std::vector<const OpDef*> table = {
#define REGISTER(stem) &op_##stem(),
#include "op_registry.inc"
#undef REGISTER
    };
    return table;
}

} // namespace

const std::vector<const OpDef*>& all_ops() {
    static const std::vector<const OpDef*> table = [] {
        std::vector<const OpDef*> made = registered_ops();
        std::erase_if(made, [](const OpDef* def) { return def->internal; });
        return made;
    }();
    return table;
}

const std::vector<const CompositeDef*>& all_composites() {
    static const std::vector<const CompositeDef*> table = [] {
        std::vector<const CompositeDef*> made = {
#define REGISTER(stem) &composite_##stem(),
#include "composite_registry.inc"
#undef REGISTER
        };
        for (const OptimizerDef* def : all_optimizers()) made.push_back(&def->composite);
        std::sort(made.begin(), made.end(),
                  [](const CompositeDef* a, const CompositeDef* b) { return a->name < b->name; });
        return made;
    }();
    return table;
}

const OpDef* find_op(std::string_view name) {
    for (const OpDef* def : registered_ops())
        if (def->name == name) return def;
    return nullptr;
}

std::vector<int> linear_operands(const OpDef& op, std::span<const TensorType> operands,
                                 std::span<const TensorType> results) {
    return op.is_linear == nullptr || op.is_linear(operands, results) ? op.linear_in : std::vector<int>();
}

Attributes local_attributes(const OpDef& op, const LowerContext& context) {
    Attributes made = op.local_attributes ? op.local_attributes(context) : context.attributes;
    for (const AttributeDef& def : op.attributes)
        if (def.type == AttributeDef::Type::shape && made.has(def.name))
            made.set(std::string(def.name), std::vector<i64>(context.local_results[0].shape));
    return made;
}

std::string_view op_name(const Node& node) { return node.op() == nullptr ? "loop" : node.op()->name; }

const CompositeDef* find_composite(std::string_view name) {
    for (const CompositeDef* def : all_composites())
        if (def->name == name) return def;
    return nullptr;
}

namespace {

// A dim of factors f0 (major), f1, ... of sizes s0, s1, ... starts at start(f0)*s1*... + start(f1)*... + ...
Affine dim_start(const LowerContext& context, const DimFactors& factors, i64 dim_size) {
    Affine start;
    i64 stride = 1;
    for (size_t n = factors.size(); n-- > 0;) {
        const size_t f = factors[n];
        // The only factor of a dim may have another size: slice and pad share one between dims of different sizes.
        const i64 size = factors.size() == 1 ? dim_size : context.rule.factors[f].size;
        start = start + block_start(size, context.factor_axes[f]) * stride;
        stride *= size;
    }
    return start;
}

} // namespace

Affine LowerContext::operand_start(int operand, int dim) const {
    const size_t o = operand, d = dim;
    return dim_start(*this, rule.operands[o][d], global_operands[o].shape[d]);
}

Affine LowerContext::result_start(int result, int dim) const {
    const size_t r = result, d = dim;
    return dim_start(*this, rule.results[r][d], global_results[r].shape[d]);
}

Affine LowerContext::scalar(int operand, i64 low, i64 high) {
    AffineTerm term;
    term.kind = AffineTerm::Kind::scalar;
    term.index = operand;
    term.low = low;
    term.high = high;
    return {0, {term}};
}

} // namespace shard
