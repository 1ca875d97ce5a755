#include "planner/partition/causes.h"

#include "planner/seed/gather_parameters.h"
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

// "shard hidden of w2 over model", one phrase for every dim that `wanted` treats otherwise than `now`.
std::string change_words(const Mesh& mesh, const TensorType& type, const std::string& name, const Sharding& now,
                         const Sharding& wanted) {
    std::vector<std::string> changes;
    for (size_t d = 0; d < now.dims.size(); ++d) {
        if (now.dims[d].axes == wanted.dims[d].axes) continue;
        std::string axes = wanted.dims[d].axes.empty() ? "on no axis" : "over " + text(mesh, wanted.dims[d].axes);
        changes.push_back(fmt::format("{} {}", dim_words(type, d), axes));
    }
    return changes.empty() ? std::string() : fmt::format("in {}, shard {}", name, joined(changes, " and "));
}

std::string at_line(Span span) { return span.known() ? fmt::format(" at line {}", span.line) : std::string(); }

const std::string& result_name(const Graph& graph, const Node& node) { return graph.value(node.outputs[0]).name; }

} // namespace

std::string dim_words(const TensorType& type, size_t d) {
    if (d < type.logical.size() && !type.logical[d].empty()) return type.logical[d];
    return fmt::format("dim {}", d);
}

Reason partial_reason(const Mesh& mesh, const Graph& graph, const Node& node, const IndexRule& rule,
                      const Kernel& kernel, std::span<const std::vector<AxisRef>> factor_axes) {
    std::vector<std::string> splits, remedies;
    for (size_t f = 0; f < rule.factors.size(); ++f) {
        if (rule.factors[f].kind != FactorKind::reduction || factor_axes[f].empty()) continue;
        FactorPlace place = place_of(graph, node, rule, f);
        std::string what = fmt::format("the {} over {}", kind_of_partial(rule.reduce), place.dim);
        if (place.operands.size() > 1 || std::holds_alternative<Contract>(kernel))
            what = "the contraction over " + place.dim;
        if (std::holds_alternative<Gather>(kernel)) what = "the lookup in " + place.dim;
        if (node.op()->windows == OpDef::Windows::takes) what = "the window of " + place.dim;
        splits.push_back(fmt::format("{} is split over {}", what, text(mesh, factor_axes[f])));
        remedies.push_back(fmt::format("shard {} of {} on no axis", place.dim, joined(place.operands, " and ")));
    }
    return {fmt::format("{}: {}, so each device holds a partial {}", result_name(graph, node), joined(splits, " and "),
                        kind_of_partial(rule.reduce)),
            joined(remedies, " and ")};
}

Reason operand_reason(const Mesh& mesh, const Graph& graph, const Node& node, ValueId operand, const Sharding& kept,
                      const Sharding& needed) {
    const Value& value = graph.value(operand);
    return {fmt::format("{}: {} computes on {} as {}, but {} is kept as {}", result_name(graph, node), node.op()->name,
                        value.name, text(mesh, needed), value.name, text(mesh, kept)),
            change_words(mesh, value.type, value.name, kept, needed)};
}

Reason result_reason(const Mesh& mesh, const Graph& graph, const Node& node, ValueId result, const Sharding& made,
                     const Sharding& kept) {
    const Value& value = graph.value(result);
    return {fmt::format("{}: {} makes it as {}, but it is kept as {}", value.name, node.op()->name, text(mesh, made),
                        text(mesh, kept)),
            change_words(mesh, value.type, value.name, kept, made)};
}

Reason constraint_reason(const Mesh& mesh, const Graph& graph, const Node& node, const Sharding& kept,
                         const Sharding& wanted) {
    const Value& from = graph.value(node.inputs[0]);
    const Value& to = graph.value(node.outputs[0]);
    if (node.attributes().has("enters"))
        return {fmt::format("{}: enters the manual region as {}{}, but is {}", from.name, text(mesh, wanted),
                            at_line(node.span), text(mesh, kept)),
                "let it enter as it is: the region's `in`, or the parameter's own `mesh`, says how"};
    std::string change = change_words(mesh, to.type, to.name, wanted, kept);
    return {fmt::format("{}: constrained to {}{}, but {} is {}", to.name, text(mesh, wanted), at_line(node.span),
                        from.name, text(mesh, kept)),
            fmt::format("drop the constraint{}{}", at_line(node.span), change.empty() ? change : ", or " + change)};
}

Reason gather_reason(const Mesh& mesh, const Graph& graph, const Node& node, const Sharding& kept,
                     const Sharding& wanted) {
    const Value& stored = graph.value(node.inputs[0]);
    std::vector<AxisRef> axes = without(used_axes(kept), used_axes(wanted));
    const std::string line = node.span.known() ? fmt::format(" (line {})", node.span.line) : std::string();
    return {fmt::format("{}: fsdp{} splits it over {}, and the {} pass reads it whole", stored.name, line,
                        text(mesh, axes), gather_pass(node)),
            fmt::format("keep {} whole: an fsdp min_size above {}, or an override in params",
                        graph.value(gathered_parameter(graph, node)).name, stored.type.elements())};
}

Reason loop_reason(const Mesh& mesh, const Value& value, const Sharding& kept, const Sharding& carried) {
    return {fmt::format("{}: the loop carries it as {}, but it is kept as {}", value.name, text(mesh, carried),
                        text(mesh, kept)),
            change_words(mesh, value.type, value.name, kept, carried)};
}

Reason update_reason(const Mesh& mesh, const Value& input, const Sharding& made, const Sharding& stored) {
    return {fmt::format("{0}: its update is made as {1}, but {0} is stored as {2}", input.name, text(mesh, made),
                        text(mesh, stored)),
            change_words(mesh, input.type, input.name, stored, made)};
}

Reason output_reason(const Mesh& mesh, const Value& value, const Sharding& kept, const Sharding& wanted) {
    std::string change = change_words(mesh, value.type, value.name, kept, wanted);
    return {fmt::format("{}: returned as {}, but it is kept as {}", value.name, text(mesh, wanted), text(mesh, kept)),
            change.empty() ? "ask for the output as it is kept" : change};
}

} // namespace shard
