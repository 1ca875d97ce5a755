#include "planner/partition/causes.h"

#include "planner/rewrite/gather_parameters.h"
#include "plans/sharding/axis_lists.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

std::string joined(const std::vector<std::string>& words, std::string_view last_separator) {
    std::string result;
    for (size_t i = 0; i < words.size(); ++i) {
        if (i > 0) result += i + 1 == words.size() ? last_separator : std::string_view(", ");
        result += words[i];
    }
    return result;
}

std::string_view kind_of_partial(ReduceOp op) {
    switch (op) {
    case ReduceOp::sum:
        return "sum";
    case ReduceOp::prod:
        return "product";
    case ReduceOp::max:
        return "maximum";
    case ReduceOp::min:
        return "minimum";
    }
    return "value";
}

// Which operands have the factor, and what the first of them calls its dim.
struct FactorPlace {
    std::vector<std::string> operands;
    std::string dim;
};
FactorPlace place_of(const Graph& graph, const Node& node, const IndexRule& rule, size_t factor) {
    FactorPlace place;
    for (size_t i = 0; i < rule.operands.size(); ++i) {
        const Value& value = graph.value(node.inputs[i]);
        for (size_t d = 0; d < rule.operands[i].size(); ++d) {
            const DimFactors& factors = rule.operands[i][d];
            if (std::find(factors.begin(), factors.end(), static_cast<int>(factor)) == factors.end()) continue;
            if (std::find(place.operands.begin(), place.operands.end(), value.name) == place.operands.end()) {
                place.operands.push_back(value.name);
            }
            if (place.dim.empty()) {
                place.dim = dim_words(value.type, d);
                if (value.type.logical[d].empty()) place.dim += " of " + value.name;
            }
        }
    }
    return place;
}

// "split over data along batch and over model along hidden", "whole along hidden", "whole": of the dims that are
// otherwise in `than`.
std::string placed_words(const Mesh& mesh, const TensorType& type, const Sharding& sharding, const Sharding& than) {
    std::vector<std::string> splits, wholes;
    for (size_t d = 0; d < sharding.dims.size(); ++d) {
        const std::vector<AxisRef> axes = without_unit_axes(sharding.dims[d].axes);
        if (axes == without_unit_axes(than.dims[d].axes)) continue;
        if (axes.empty())
            wholes.push_back(dim_words(type, d));
        else
            splits.push_back(fmt::format("over {} along {}", text(mesh, axes), dim_words(type, d)));
    }
    std::vector<std::string> words;
    if (!splits.empty()) words.push_back("split " + joined(splits, " and "));
    const bool is_whole = without_unit_axes(used_axes(sharding)).empty();
    if (!wholes.empty()) words.push_back(is_whole ? "whole" : "whole along " + joined(wholes, " and "));
    if (!sharding.partial.empty()) words.push_back("summed in parts over " + text(mesh, sharding.partial));
    return words.empty() ? text(mesh, sharding) : joined(words, " and ");
}

// ", since data splits batch": what the op does with axes that it does not read an operand over.
std::string since_words(const Mesh& mesh, const Graph& graph, const Node& node, const std::vector<AxisRef>& lost,
                        const ComputeSharding& choice) {
    const auto look = [&](const Sharding& sharding, const Value& value) -> std::string {
        const TensorType& type = value.type;
        for (const AxisRef& axis : lost)
            for (size_t d = 0; d < sharding.dims.size(); ++d) {
                const std::vector<AxisRef>& axes = sharding.dims[d].axes;
                if (std::find(axes.begin(), axes.end(), axis) != axes.end())
                    return fmt::format(", since {} splits {}{}", text(mesh, axis), dim_words(type, d),
                                       type.logical[d].empty() ? " of " + value.name : std::string());
            }
        return {};
    };
    std::string words;
    for (size_t n = 0; n < choice.results.size() && words.empty(); ++n)
        words = look(choice.results[n], graph.value(node.outputs[n]));
    for (size_t n = 0; n < choice.operands.size() && words.empty(); ++n)
        words = look(choice.operands[n], graph.value(node.inputs[n]));
    return words;
}

// ", since combining partial results over model would cost more": an op that could read its operand split, and combine what
// devices make of their parts, was priced so, and lost.
std::string price_words(const Mesh& mesh, const Sharding& kept, const Sharding& needed, const IndexRule& rule,
                        std::span<const DimFactors> operand) {
    const std::vector<AxisRef> lost = without_unit_axes(without(used_axes(kept), used_axes(needed)));
    const auto is_added_up = [&](const AxisRef& axis) {
        for (size_t d = 0; d < kept.dims.size() && d < operand.size(); ++d) {
            const std::vector<AxisRef>& axes = kept.dims[d].axes;
            if (std::find(axes.begin(), axes.end(), axis) == axes.end()) continue;
            return !operand[d].empty() && std::all_of(operand[d].begin(), operand[d].end(), [&](int factor) {
                const Factor& of = rule.factors[static_cast<size_t>(factor)];
                return of.kind == FactorKind::reduction && !of.blocked;
            });
        }
        return false;
    };
    if (lost.empty() || !std::all_of(lost.begin(), lost.end(), is_added_up)) return {};
    return fmt::format(", since combining partial results over {} would cost more", text(mesh, lost));
}

} // namespace

std::string dim_words(const TensorType& type, size_t d) {
    if (d < type.logical.size() && !type.logical[d].empty()) return type.logical[d];
    return fmt::format("dim {}", d);
}

Reason partial_reason(const Mesh& mesh, const Graph& graph, const Node& node, const IndexRule& rule,
                      const Kernel& kernel, std::span<const std::vector<AxisRef>> factor_axes) {
    std::vector<std::string> splits;
    for (size_t f = 0; f < rule.factors.size(); ++f) {
        if (rule.factors[f].kind != FactorKind::reduction || factor_axes[f].empty()) continue;
        FactorPlace place = place_of(graph, node, rule, f);
        std::string what = fmt::format("the {} over {}", kind_of_partial(rule.reduce), place.dim);
        if (place.operands.size() > 1 || std::holds_alternative<Contract>(kernel))
            what = "the contraction over " + place.dim;
        if (std::holds_alternative<Gather>(kernel)) what = "the lookup in " + place.dim;
        if (std::holds_alternative<Scatter>(kernel)) what = "the scatter along " + place.dim;
        if (std::holds_alternative<Move>(kernel)) what = "the window of " + place.dim;
        splits.push_back(fmt::format("{} is split over {}", what, text(mesh, factor_axes[f])));
    }
    return {fmt::format("{}, so each device holds a partial {}", joined(splits, " and "), kind_of_partial(rule.reduce)),
            {}};
}

Reason operand_reason(const Mesh& mesh, const Graph& graph, const Node& node, ValueId operand, const Sharding& kept,
                      const Sharding& needed, const OperandPlace* place) {
    const Value& value = graph.value(operand);
    std::string since;
    if (place != nullptr) {
        const std::vector<AxisRef> lost = without_unit_axes(without(used_axes(kept), used_axes(needed)));
        const auto [known, is_new] = place->since->try_emplace(lost);
        if (is_new) known->second = since_words(mesh, graph, node, lost, place->choice);
        since = known->second;
    }
    if (place != nullptr && place->priced && since.empty())
        since = price_words(mesh, kept, needed, place->rule, place->rule.operands[place->operand]);
    return {fmt::format("{} is {}, but {} reads it {}{}", value.name, placed_words(mesh, value.type, kept, needed),
                        node.op()->name, placed_words(mesh, value.type, needed, kept), since),
            {}};
}

Reason halo_reason(const Mesh& mesh, const Graph& graph, ValueId operand, const Sharding& made, size_t dim) {
    const Value& value = graph.value(operand);
    return {fmt::format("elements of {} move along {}, which is split over {}, so devices send what crosses from block "
                        "to block",
                        value.name, dim_words(value.type, dim), text(mesh, made.dims[dim].axes)),
            {}};
}

Reason overlap_reason(const Mesh& mesh, const Graph& graph, const Node& node, ValueId operand, size_t dim,
                      std::span<const AxisRef> axes) {
    const Value& value = graph.value(operand);
    return {fmt::format("windows of {} reach from block to block of {} along {}, which is split over {}",
                        node.op()->name, value.name, dim_words(value.type, dim), text(mesh, axes)),
            {}};
}

Reason result_reason(const Mesh& mesh, const Graph& graph, const Node& node, ValueId result, const Sharding& made,
                     const Sharding& kept) {
    const TensorType& type = graph.value(result).type;
    return {fmt::format("{} makes it {}, but it is kept {}", node.op()->name, placed_words(mesh, type, made, kept),
                        placed_words(mesh, type, kept, made)),
            {}};
}

Reason constraint_reason(const Mesh& mesh, const Graph& graph, const Node& node, const Sharding& kept,
                         const Sharding& wanted) {
    const Value& from = graph.value(node.inputs[0]);
    const std::string now = placed_words(mesh, from.type, kept, wanted),
                      then = placed_words(mesh, from.type, wanted, kept);
    if (node.attributes().has("enters"))
        return {fmt::format("the manual region takes it {}, but it is {}", then, now),
                "let it enter as it is: the region's `in`, or the parameter's own `mesh`, says how"};
    if (node.attributes().has("attention")) // planner/attention/rewrite_attention.h
        return {
            fmt::format(
                "attention goes {}: each device has some heads and all positions, so {} is brought from being {} to "
                "{}",
                node.attributes().string("attention"), from.name, now, then),
            {}};
    return {fmt::format("a constraint asks for it {}, but {} is {}", then, from.name, now), {}};
}

KeptReason kept_reason(const Mesh& mesh, const Graph& graph, std::span<const NodeId> readers,
                       std::span<const Sharding> kept, NodeId node, const Sharding& made) {
    const ValueId result = graph.node(node).outputs[0];
    for (const NodeId reader : readers) {
        const Node& constraint = graph.node(reader);
        if (is_constraint(constraint) && same_layout(kept[constraint.outputs[0]], kept[result]))
            return {constraint_reason(mesh, graph, constraint, made, kept[result]), reader};
    }
    return {result_reason(mesh, graph, graph.node(node), result, made, kept[result]), node};
}

Reason gather_reason(const Mesh& mesh, const Node& node, const Sharding& kept, const Sharding& wanted) {
    return {fmt::format("fsdp splits it over {}, and the {} pass reads it whole",
                        text(mesh, without(used_axes(kept), used_axes(wanted))), name(gather_phase(node))),
            {}};
}

Reason loop_reason(const Mesh& mesh, const Value& value, const Sharding& kept, const Sharding& carried) {
    return {fmt::format("the loop carries it {}, but it is kept {}", placed_words(mesh, value.type, carried, kept),
                        placed_words(mesh, value.type, kept, carried)),
            {}};
}

Reason update_reason(const Mesh& mesh, const Value& input, const Sharding& made, const Sharding& stored) {
    return {fmt::format("its new value is made {}, but it is stored {}", placed_words(mesh, input.type, made, stored),
                        placed_words(mesh, input.type, stored, made)),
            {}};
}

Reason output_reason(const Mesh& mesh, const Value& value, const Sharding& kept, const Sharding& wanted) {
    return {fmt::format("it is returned {}, but kept {}", placed_words(mesh, value.type, wanted, kept),
                        placed_words(mesh, value.type, kept, wanted)),
            {}};
}

} // namespace shard
