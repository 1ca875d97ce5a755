#include "planner/explain/changes.h"

#include "planner/model/rules.h"
#include "planner/read/include.h"
#include "planner/rewrite/gather_parameters.h"
#include "planner/rewrite/outweighing.h"
#include "planner/seed/lint_rules.h"
#include "plans/plan/source_ref.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

namespace {

constexpr size_t most_changes = 64; // of each kind; a plan takes milliseconds

std::string place(const Sources& sources, const Span& span) {
    return span.known() ? text(source_ref(sources, span)) : std::string("?");
}

// A constraint in a repeated module is one line and many nodes: they change together.
void drop_constraints(const Compilation& c, const Sources& sources, std::vector<Change>& changes) {
    std::vector<Span> seen;
    for (const Node& node : c.graph->nodes) {
        if (!is_constraint(node)) continue;
        if (is_parameter_gather(node)) continue; // comes from the layout
        if (node.span.known() && is_boxed(sources.name(node.span.file)))
            continue; // nobody edits what is in the program
        if (std::find(seen.begin(), seen.end(), node.span) != seen.end() || seen.size() == most_changes) continue;
        seen.push_back(node.span);
        changes.push_back({fmt::format("without the constraint at {}", place(sources, node.span)),
                           *c.layout,
                           {node.span},
                           node.span});
    }
}

void change_rules(const Compilation& c, const Sources& sources, std::vector<Change>& changes) {
    const Layout& layout = *c.layout;
    for (size_t i = 0; i < std::min(layout.rules.size(), most_changes); ++i) {
        const AxisRule& rule = layout.rules[i];
        Change without{
            fmt::format("without the rule {} at {}", text(rule), place(sources, rule.span)), layout, {}, rule.span};
        without.layout.rules.erase(without.layout.rules.begin() + static_cast<std::ptrdiff_t>(i));
        changes.push_back(std::move(without));
        const auto over = [&](std::vector<std::string> axes) {
            AxisRule other = rule;
            other.axes = std::move(axes);
            other.unconstrained = false;
            Change changed{fmt::format("{} for {} at {}", text(other), text(rule), place(sources, rule.span)),
                           layout,
                           {},
                           rule.span,
                           rule.axes.empty()};
            changed.layout.rules[i] = other;
            changes.push_back(std::move(changed));
        };
        for (const MeshAxis& axis : layout.mesh.axes) {
            if (axis.size == 1) continue;
            if (rule.axes != std::vector<std::string>{axis.name}) over({axis.name});
            if (rule.axes.empty() || std::find(rule.axes.begin(), rule.axes.end(), axis.name) != rule.axes.end())
                continue;
            std::vector<std::string> more = rule.axes;
            more.push_back(axis.name);
            over(std::move(more));
        }
    }
}

void drop_overrides(const Compilation& c, const Sources& sources, std::vector<Change>& changes) {
    static const std::pair<const char*, std::vector<Override> Layout::*> kinds[] = {
        {"inputs", &Layout::inputs},   {"params", &Layout::params}, {"values", &Layout::values},
        {"outputs", &Layout::outputs}, {"states", &Layout::states}, {"gradients", &Layout::gradients}};
    for (const std::pair<const char*, std::vector<Override> Layout::*>& kind : kinds) {
        std::vector<Override> Layout::*member = kind.second;
        const std::vector<Override>& overrides = (*c.layout).*member;
        for (size_t i = 0; i < std::min(overrides.size(), most_changes); ++i) {
            Change without{fmt::format("without the override of {} \"{}\" at {}", kind.first, overrides[i].glob,
                                       place(sources, overrides[i].span)),
                           *c.layout,
                           {},
                           overrides[i].span};
            std::vector<Override>& rest = without.layout.*member;
            rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
            changes.push_back(std::move(without));
        }
    }
}

void change_fsdp(const Compilation& c, const Sources& sources, std::vector<Change>& changes) {
    const std::optional<FsdpDecl>& fsdp = c.layout->fsdp;
    const std::string where = fsdp ? " at " + place(sources, fsdp->span) : "";
    if (fsdp) {
        Change without{fmt::format("without fsdp{}", where), *c.layout, {}, fsdp->span};
        without.layout.fsdp.reset();
        changes.push_back(std::move(without));
    }
    if (fsdp && fsdp->gather == GatherParameters::always && !outweighing_parameters(*c.graph, *c.seeds).empty()) {
        Change moving{fmt::format("gather: auto in fsdp{}", where), *c.layout, {}, fsdp->span};
        moving.layout.fsdp->gather = GatherParameters::if_faster;
        changes.push_back(std::move(moving));
    }
    for (const MeshAxis& axis : c.layout->mesh.axes) {
        if (axis.size == 1 || (fsdp && fsdp->axes.size() == 1 && fsdp->axes[0].text == axis.name)) continue;
        Change over{fmt::format("fsdp: {{axis: {}}}{}", axis.name, fsdp ? " instead" + where : " in the layout"),
                    *c.layout,
                    {},
                    fsdp ? fsdp->span : Span{}};
        if (!over.layout.fsdp) over.layout.fsdp = FsdpDecl{};
        over.layout.fsdp->axes = {{axis.name, {}}};
        changes.push_back(std::move(over));
    }
}

} // namespace

namespace {

// The section of a layout that says how a value lies, and its name there.
struct Section {
    const char* name;
    std::vector<Override> Layout::*member;
    std::string value;
};

Section section_of(const Graph& graph, ValueId id) {
    const Value& value = graph.value(id);
    if (value.producer < 0 && value.role == Role::input) return {"inputs", &Layout::inputs, value.name};
    if (value.producer < 0) return {"params", &Layout::params, value.name};
    const auto output = std::find(graph.outputs.begin(), graph.outputs.end(), id);
    if (output == graph.outputs.end()) return {"values", &Layout::values, value.name};
    return {"outputs", &Layout::outputs, graph.output_names[static_cast<size_t>(output - graph.outputs.begin())]};
}

} // namespace

// Replicated, or one axis on one dim, by an override such as a user would write.
void override_tensor(const Compilation& c, const std::string& tensor, std::vector<Change>& changes) {
    std::optional<ValueId> id = find_value(*c.graph, tensor);
    if (!id) return;
    const Value& value = c.graph->value(*id);
    const Section section = section_of(*c.graph, *id);
    const Mesh& mesh = c.layout->mesh;
    Sharding whole;
    whole.dims.resize(value.type.shape.size());
    auto add = [&](const Sharding& sharding) {
        Override override;
        override.glob = section.value;
        for (const DimSharding& dim : sharding.dims) {
            DimSpec& spec = override.spec.dims.emplace_back();
            for (const AxisRef& axis : dim.axes) spec.axes.push_back(text(mesh, axis));
        }
        Change with{
            fmt::format("{}: {{\"{}\": {}}} in the layout", section.name, section.value, spec_text(mesh, sharding)),
            *c.layout,
            {},
            value.span};
        (with.layout.*section.member).push_back(override);
        changes.push_back(std::move(with));
    };
    add(whole);
    for (size_t dim = 0; dim < whole.dims.size(); ++dim)
        for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
            if (mesh.axes[axis].size == 1 || value.type.shape[dim] % mesh.axes[axis].size != 0) continue;
            Sharding split = whole;
            split.dims[dim].axes = {mesh.whole(static_cast<int>(axis))};
            add(split);
        }
}

std::string text_of(const Change& change, const Compilation& without) {
    if (depends_on_semantics(*without.graph, *without.layout) || !depends_on_semantics(*without.graph, change.layout))
        return change.text;
    return fmt::format("{}, with `semantics: {}`", change.text,
                       change.layout.semantics == RuleSemantics::nnx ? "nnx" : "linen");
}

std::vector<Change> possible_changes(const Compilation& c, const Sources& sources) {
    std::vector<Change> changes;
    drop_constraints(c, sources, changes);
    change_rules(c, sources, changes);
    drop_overrides(c, sources, changes);
    change_fsdp(c, sources, changes);
    return changes;
}

size_t most_tries(const Compilation& c, size_t least) {
    constexpr size_t most = 32;
    const std::vector<MeshAxis>& axes = c.layout->mesh.axes;
    const bool has_several =
        std::count_if(axes.begin(), axes.end(), [](const MeshAxis& axis) { return axis.size > 1; }) > 1;
    const size_t nodes = has_several ? 6000 : 30000; // that are planned in a second or two
    return std::clamp(nodes / std::max<size_t>(1, c.graph->nodes.size()), least, std::max(least, most));
}

void keep_most_promising(std::vector<Change>& changes, size_t most, std::span<const Span> named) {
    if (changes.size() <= most) return;
    const auto rank = [named](const Change& change) {
        const auto is_on_line = [&change](const Span& span) {
            return span.file == change.place.file && span.line == change.place.line && change.place.known();
        };
        // Rules may share a line with others, of which nobody speaks.
        const auto is_it = [&](const Span& span) { return is_on_line(span) && span.column == change.place.column; };
        if (std::any_of(named.begin(), named.end(), is_it)) return 0;
        if (std::any_of(named.begin(), named.end(), is_on_line)) return 1;
        return change.splits_more ? 3 : 2;
    };
    std::stable_sort(changes.begin(), changes.end(),
                     [&rank](const Change& a, const Change& b) { return rank(a) < rank(b); });
    changes.erase(changes.begin() + static_cast<std::ptrdiff_t>(most), changes.end());
}

} // namespace shard
