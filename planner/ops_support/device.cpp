#include "planner/ops_support/device.h"

#include "planner/ops_support/rule_maker.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

AttributeDef over_attribute() {
    return {"over", AttributeDef::Type::mesh_axes, true,
            "the mesh axis, or a list of them, along which devices differ"};
}

bool is_tiled(const Attributes& attributes) { return attributes.flag("tiled", false); }

InferResult infer_same_number(const InferContext& context) {
    if (!check_dtype(context, 0, is_numeric, "a number")) return std::nullopt;
    return InferResult{{make_type(context.operands[0].dtype, context.operands[0].shape)}};
}

Kernel lower_placeholder(const LowerContext& context) { return copy_kernel(context.local_results[0]); }
Kernel lower_view(const LowerContext&) { return flat_kernel(); }

IndexRule rule_but_dims(std::span<const TensorType> operands, std::span<const TensorType> results,
                        std::span<const i64> dims) {
    RuleMaker maker(1, 1);
    const Shape &before = operands[0].shape, &after = results[0].shape;
    for (size_t d = 0; d < before.size(); ++d) {
        if (std::find(dims.begin(), dims.end(), static_cast<i64>(d)) == dims.end()) {
            const int shared = maker.factor(FactorKind::pass_through, before[d]);
            maker.operand(0).push_back({shared});
            maker.result().push_back({shared});
            continue;
        }
        maker.operand(0).push_back({maker.factor(FactorKind::need_replication, before[d])});
        maker.result().push_back({maker.factor(FactorKind::need_replication, after[d])});
    }
    for (Factor& factor : maker.rule().factors)
        if (factor.kind == FactorKind::need_replication) factor.blocked = true;
    return maker.rule();
}

i64 dim_of(const Attributes& attributes, std::string_view attribute, int rank, i64 fallback) {
    const i64 dim = attributes.integer(attribute, fallback);
    return dim < 0 ? dim + rank : dim;
}

std::optional<i64> named_dim(const InferContext& context, std::string_view attribute, int rank, i64 fallback) {
    const i64 dim = dim_of(context.attributes, attribute, rank, fallback);
    if (dim >= 0 && dim < rank) return dim;
    context.diagnostics
        .error("E0228", context.span,
               fmt::format("`{}` of '{}' is {}, but there {} {} {}", attribute, context.op,
                           context.attributes.integer(attribute, fallback), rank == 1 ? "is" : "are", rank,
                           rank == 1 ? "dim" : "dims"))
        .note(operand_text(context, 0) + " on one device");
    return std::nullopt;
}

std::string group_text(const Attributes& attributes) {
    return fmt::format("{} ({})", fmt::join(attributes.strings("over"), " x "),
                       fmt::join(attributes.integers("sizes"), " x "));
}

bool check_group_divides(const InferContext& context, i64 dim) {
    const i64 size = context.operands[0].shape[dim], parts = group_size(context.attributes);
    if (size % parts == 0) return true;
    context.diagnostics
        .error("E0273", context.span,
               fmt::format("dim {} of {} does not divide into {} parts over {}", dim, operand_text(context, 0), parts,
                           group_text(context.attributes)))
        .help(fmt::format("on one device the dim must be a multiple of {}", parts));
    return false;
}

bool check_group_size(const InferContext& context, i64 dim) {
    const i64 size = context.operands[0].shape[dim], parts = group_size(context.attributes);
    if (size == parts) return true;
    DiagnosticBuilder error = context.diagnostics.error(
        "E0278", context.span,
        fmt::format(
            "'{}' gives each of {} devices along {} one index of dim {}, but on one device {} has size {} there",
            context.op, parts, group_text(context.attributes), dim, operand_text(context, 0), size));
    if (size % parts == 0)
        error.help(fmt::format("write `tiled: true` to leave each device {} of the {}", size / parts, size));
    else
        error.help(fmt::format("the dim must have size {}, or, with `tiled: true`, a multiple of it", parts));
    return false;
}

ValueId combined(Chain& chain, std::string_view op, std::span<const ValueId> members) {
    ValueId result = members[0];
    for (size_t n = 1; n < members.size(); ++n) result = chain(op, {result, members[n]});
    return result;
}

ValueId part_of(Chain& chain, ValueId value, i64 dim, i64 rank, i64 parts) {
    const i64 size = chain.type(value).shape[dim] / parts;
    return chain("slice", {value},
                 attributes_of({{"dim", std::vector<i64>{dim}},
                                {"start", std::vector<i64>{rank * size}},
                                {"limit", std::vector<i64>{(rank + 1) * size}}}));
}

ValueId with_dim(Chain& chain, ValueId value, i64 dim) {
    TensorType type = chain.type(value);
    type.shape.insert(type.shape.begin() + dim, 1);
    type.logical.insert(type.logical.begin() + dim, "");
    return chain("reshape", {value}, shape_of(type.shape, type.logical));
}

ValueId without_dim(Chain& chain, ValueId value, i64 dim) {
    TensorType type = chain.type(value);
    type.shape.erase(type.shape.begin() + dim);
    type.logical.erase(type.logical.begin() + dim);
    return chain("reshape", {value}, shape_of(type.shape, type.logical));
}

OpDef all_reduce_op(std::string_view name, std::string_view doc, const DeviceOp& device,
                    std::vector<ValueId> (*gradient)(const GradientContext&)) {
    OpDef made;
    made.name = name;
    made.doc = doc;
    made.operands = {1, 1};
    made.attributes = {over_attribute()};
    made.infer = infer_same_number;
    made.rule = rule_pointwise;
    made.lower = lower_placeholder;
    made.gradient = gradient;
    made.device = &device;
    return made;
}

std::optional<std::string> written_reduction(const Collective& made, ReduceOp reduce) {
    if (made.def->uses != CollectiveDef::Uses{.reduce = true} || made.reduce != reduce) return std::nullopt;
    return std::string();
}

std::vector<ValueId> group_extremum_gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const DType dtype = chain.type(context.inputs[0]).dtype;
    const ValueId chosen = chain("eq", {context.inputs[0], context.output});
    const ValueId ones = chain.cast(chosen, dtype);
    const ValueId count = chain("psum", {ones}, over_same(context.attributes));
    const ValueId part = chain("div", {context.cotangent, count});
    const ValueId result = chain("select", {chosen, part, context.builder.scalar(0, dtype)});
    internal_check(chain.ok(), "a gradient does not fit");
    return {result};
}

} // namespace shard
