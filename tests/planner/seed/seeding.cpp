#include "tests/planner/seed/seeding.h"

#include "planner/seed/lint_rules.h"
#include "planner/text/allowances.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

Seeding::Seeding(const std::string& tensors) {
    const Model model = model_of("model: m\n" + tensors + "\ngraph: []\noutputs: [x]\n");
    for (const Role role : {Role::input, Role::param})
        for (const TensorDecl& decl : role == Role::input ? model.inputs : model.params) {
            Value value;
            value.name = decl.array.name.text;
            value.type = {decl.array.dtype, decl.array.shape, decl.array.logical};
            value.role = role;
            value.span = decl.array.name.span;
            value.decl = static_cast<int>(graph.declared.size());
            graph.declared.push_back(decl.array);
            graph.inputs.push_back(static_cast<ValueId>(graph.values.size()));
            graph.values.push_back(value);
        }
}

ValueId Seeding::find(const std::string& value) const {
    for (size_t v = 0; v < graph.values.size(); ++v)
        if (graph.values[v].name == value) return static_cast<ValueId>(v);
    FAIL("no value " << value);
    return -1;
}

ValueId Seeding::constrain(const std::string& value, const std::string& name, std::vector<std::string> logical,
                           Span span) {
    Node node;
    node.inputs = {find(value)};
    node.apply().asked = Asked{std::move(logical), {}, {}};
    node.span = span;
    Value result = graph.value(node.inputs[0]);
    result.name = name;
    result.role = Role::value;
    result.decl = -1;
    result.producer = static_cast<NodeId>(graph.nodes.size());
    const ValueId id = static_cast<ValueId>(graph.values.size());
    node.outputs = {id};
    graph.nodes.push_back(std::move(node));
    graph.values.push_back(std::move(result));
    graph.outputs.push_back(id);
    graph.output_names.push_back(name);
    return id;
}

ValueId Seeding::constrain(const std::string& value, const std::string& name, ShardingSpec spec, Span span) {
    const ValueId id = constrain(value, name, std::vector<std::string>{}, span);
    graph.nodes.back().apply().asked = Asked{{}, std::move(spec), {}};
    return id;
}

void Seeding::run(const std::string& text) {
    layout = layout_of(text);
    seeds = seed_shardings(graph, layout, diagnostics);
    CHECK(seeds.has_value() == !diagnostics.has_error());
    Allowances none;
    if (seeds) lint_rules(graph, layout, *seeds, none, diagnostics);
}

std::string Seeding::text(const std::optional<Sharding>& sharding) const {
    return sharding ? shard::text(layout.mesh, *sharding) : "open";
}

std::string Seeding::sharding(const std::string& value) const {
    return seeds ? text(seeds->values[static_cast<size_t>(find(value))]) : "nothing";
}

std::string Seeding::constraint(const std::string& value) const {
    return seeds ? text(seeds->constraints[static_cast<size_t>(graph.value(find(value)).producer)]) : "nothing";
}

std::string Seeding::causes(const std::string& value) const {
    const std::vector<std::string_view> names = {"rule", "override", "mesh", "constraint", "output", "propagation"};
    std::string result;
    for (const Decision& decision : seeds->log) {
        if (decision.value != find(value)) continue;
        result += fmt::format("{}dim {}: {} by {}", result.empty() ? "" : "; ", decision.dim,
                              shard::text(layout.mesh, decision.axes), names[static_cast<size_t>(decision.cause)]);
        if (decision.rule >= 0) result += fmt::format(" {}", decision.rule);
        result += fmt::format(" at {}:{}", decision.span.line, decision.span.column);
    }
    return result;
}

std::string Seeding::problems(std::string_view code) const {
    Diagnostics some;
    for (const Diagnostic& diagnostic : diagnostics.all())
        if (diagnostic.code == code) some.add(diagnostic);
    return report_text(some);
}

} // namespace shard
