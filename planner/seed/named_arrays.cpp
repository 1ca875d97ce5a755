#include "planner/seed/named_arrays.h"

#include "planner/seed/rules_linen.h"
#include "planner/seed/rules_nnx.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

namespace shard {

std::vector<NamedArray> named_arrays(const Graph& graph) {
    std::vector<NamedArray> arrays;
    std::map<std::tuple<int, int, int, std::vector<std::string>>, size_t> seen; // where in `arrays`
    const auto add = [&](NamedArray array) {
        const auto [at, is_new] =
            seen.try_emplace({array.span.file, array.span.line, array.span.column, array.names}, arrays.size());
        if (is_new)
            arrays.push_back(std::move(array));
        else
            arrays[at->second].values.insert(arrays[at->second].values.end(), array.values.begin(), array.values.end());
    };
    for (ValueId id : graph.inputs) {
        const Value& value = graph.value(id);
        if (value.decl < 0) continue;
        const ArrayDecl& decl = graph.declared[value.decl];
        if (!decl.has_axes) continue;
        const std::string_view role = value.role == Role::param      ? "parameter"
                                      : value.role == Role::variable ? "variable"
                                                                     : "input";
        add({decl.logical, decl.rules, value.span, fmt::format("{} '{}'", role, value.name), {id}});
    }
    for (const Node& node : graph.nodes)
        if (!node.asked().logical.empty() && !node.asked().mesh)
            add({node.asked().logical,
                 {},
                 node.span,
                 fmt::format("the constraint on '{}'", graph.value(node.outputs[0]).name)});
    return arrays;
}

std::vector<AxisRule> rules_of(const Layout& layout, const NamedArray& array) {
    if (layout.semantics == RuleSemantics::linen) return array.own.empty() ? layout.rules : array.own;
    std::vector<AxisRule> rules = layout.rules;
    rules.insert(rules.end(), array.own.begin(), array.own.end());
    return rules;
}

std::optional<RuleOutcome> apply_rules(const Layout& layout, const NamedArray& array, Diagnostics& diagnostics) {
    if (layout.semantics == RuleSemantics::linen)
        return apply_rules_linen(layout.mesh, array.own.empty() ? layout.rules : array.own, array.names, array.span,
                                 diagnostics);
    return apply_rules_nnx(layout.mesh, layout.rules, array.own, array.names, array.span, diagnostics,
                           layout.missing_axes);
}

} // namespace shard
