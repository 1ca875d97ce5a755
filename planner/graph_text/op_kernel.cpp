#include "planner/graph_text/op_kernel.h"

#include "planner/graph_text/check_use.h"
#include "planner/ops_support/move.h"
#include "planner/partition/local_builder.h"
#include "planner/propagate/projection.h"
#include "plans/sharding/axis_lists.h"

#include <algorithm>

namespace shard {

namespace {

TensorType whole(const Value& value) { return {value.type.dtype, value.part->global_shape, value.type.logical}; }

// Which axes each factor is split over; nullopt if two values do not agree.
std::optional<std::vector<std::vector<AxisRef>>> axes_by_factor(const IndexRule& rule, const Projection& projection) {
    std::vector<std::vector<AxisRef>> axes(rule.factors.size());
    for (size_t t = 0; t < projection.count(); ++t)
        for (const FactorSharding& factor : projection.tensor(t).factors) {
            if (!factor.overflow.empty()) return std::nullopt;
            if (factor.axes.empty()) continue;
            if (!axes[factor.factor].empty() && axes[factor.factor] != factor.axes) return std::nullopt;
            axes[factor.factor] = factor.axes;
        }
    return axes;
}

std::optional<Kernel> lowered(const OpDef& op, const Attributes& local, std::span<const TensorType> wholes,
                              std::span<const TensorType> whole_results, std::span<const TensorType> parts,
                              std::span<const TensorType> part_results, std::span<const Sharding> shardings,
                              std::span<const Sharding> result_shardings) {
    // The op's own attributes are of the whole.
    Attributes attributes = local;
    for (const AttributeDef& def : op.attributes)
        if (def.type == AttributeDef::Type::shape && local.has(def.name))
            attributes.set(std::string(def.name), std::vector<i64>(whole_results[0].shape));
    const std::vector<Span> spans(wholes.size());
    const std::vector<std::string_view> names(wholes.size());
    Diagnostics ignored;
    const std::optional<std::vector<TensorType>> inferred =
        op.infer({wholes, spans, attributes, {}, ignored, op.name, names});
    if (!inferred || inferred->size() != 1 || (*inferred)[0].dtype != whole_results[0].dtype ||
        (*inferred)[0].shape != whole_results[0].shape)
        return std::nullopt;
    const IndexRule rule = op.rule(wholes, whole_results, attributes);
    const std::optional<std::vector<std::vector<AxisRef>>> axes =
        axes_by_factor(rule, project(rule, shardings, result_shardings));
    if (!axes) return std::nullopt;
    return op.lower({wholes, whole_results, parts, part_results, attributes, rule, *axes});
}

} // namespace

std::optional<Kernel> op_kernel(const Graph& graph, const Mesh& mesh, const OpDef& op, const Attributes& attributes,
                                std::span<const ValueId> operands, ValueId result) {
    if (op.lower == nullptr || !use_problem(graph, mesh, op, attributes, operands, result).empty()) return std::nullopt;
    std::vector<TensorType> wholes, parts;
    std::vector<Sharding> shardings;
    for (ValueId id : operands) {
        const Value& value = graph.value(id);
        if (value.part->sharding.dims.size() != value.type.shape.size()) return std::nullopt;
        wholes.push_back(whole(value));
        parts.push_back(value.type);
        shardings.push_back(value.part->sharding);
    }
    const Value& made = graph.value(result);
    if (made.part->sharding.dims.size() != made.type.shape.size()) return std::nullopt;
    const std::vector<TensorType> whole_results = {whole(made)}, part_results = {made.type};
    const std::vector<Sharding> result_shardings = {made.part->sharding};

    try {
        return lowered(op, attributes, wholes, whole_results, parts, part_results, shardings, result_shardings);
    } catch (const InternalError&) { // an op that is given what it never sees: a text may say anything
        return std::nullopt;
    }
}

std::optional<Kernel> move_kernel(const Value& before, const Value& after) {
    const std::vector<DimSharding>&from = before.part->sharding.dims, &to = after.part->sharding.dims;
    if (from.size() != to.size() || from.size() != before.type.shape.size()) return std::nullopt;
    std::vector<AxisMove> slices;
    for (size_t d = 0; d < from.size(); ++d) {
        const bool grows = to[d].axes.size() >= from[d].axes.size();
        if (!grows) return std::nullopt;
        std::vector<AxisRef> added = without(to[d].axes, from[d].axes);
        if (!added.empty()) slices.push_back({-1, static_cast<int>(d), std::move(added)});
    }
    if (slices.empty()) return copy_kernel(before.type);
    for (const AxisMove& move : slices)
        if (before.type.shape[move.to] % total_size(move.axes) != 0) return std::nullopt;
    return slice_kernel(before.type.shape, slices);
}

} // namespace shard
