#include "planner/explain/experiments.h"

#include "planner/explain/tensor_names.h"
#include "planner/model/rules.h"
#include "planner/pipeline/pipeline.h"
#include "planner/seed/gather_parameters.h"
#include "plans/plan/report_totals.h"
#include "plans/plan/source_ref.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

namespace {

struct Change {
    std::string text;
    Layout layout;
    std::vector<Span> without_constraints = {};
};

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
        if (std::find(seen.begin(), seen.end(), node.span) != seen.end() || seen.size() == most_changes) continue;
        seen.push_back(node.span);
        changes.push_back(
            {fmt::format("without the constraint at {}", place(sources, node.span)), *c.layout, {node.span}});
    }
}

void change_rules(const Compilation& c, const Sources& sources, std::vector<Change>& changes) {
    const Layout& layout = *c.layout;
    for (size_t i = 0; i < std::min(layout.rules.size(), most_changes); ++i) {
        const AxisRule& rule = layout.rules[i];
        Change without{fmt::format("without the rule {} at {}", text(rule), place(sources, rule.span)), layout};
        without.layout.rules.erase(without.layout.rules.begin() + static_cast<std::ptrdiff_t>(i));
        changes.push_back(std::move(without));
        for (const MeshAxis& axis : layout.mesh.axes) {
            std::vector<std::string> axes = {axis.name};
            if (rule.axes == axes || axis.size == 1) continue;
            AxisRule other = rule;
            other.axes = axes;
            other.unconstrained = false;
            Change changed{fmt::format("{} for {} at {}", text(other), text(rule), place(sources, rule.span)), layout};
            changed.layout.rules[i] = other;
            changes.push_back(std::move(changed));
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
                           *c.layout};
            std::vector<Override>& rest = without.layout.*member;
            rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
            changes.push_back(std::move(without));
        }
    }
}

void drop_fsdp(const Compilation& c, const Sources& sources, std::vector<Change>& changes) {
    if (!c.layout->fsdp) return;
    Change without{fmt::format("without fsdp at {}", place(sources, c.layout->fsdp->span)), *c.layout};
    without.layout.fsdp.reset();
    changes.push_back(std::move(without));
}

// An input or parameter: replicated, or one axis on one dim, by an override such as a user would write.
void override_tensor(const Compilation& c, const std::string& tensor, std::vector<Change>& changes) {
    std::optional<ValueId> id = find_value(*c.graph, tensor);
    if (!id || c.graph->value(*id).producer >= 0) return;
    const Value& value = c.graph->value(*id);
    std::vector<Override> Layout::*member = value.role == Role::input ? &Layout::inputs : &Layout::params;
    const Mesh& mesh = c.layout->mesh;
    Sharding whole;
    whole.dims.resize(value.type.shape.size());
    auto add = [&](const Sharding& sharding) {
        Override override;
        override.glob = value.name;
        for (const DimSharding& dim : sharding.dims) {
            DimSpec& spec = override.spec.dims.emplace_back();
            for (const AxisRef& axis : dim.axes) spec.axes.push_back(text(mesh, axis));
        }
        Change with{fmt::format("{}: {{\"{}\": {}}} in the layout", value.role == Role::input ? "inputs" : "params",
                                value.name, spec_text(mesh, sharding)),
                    *c.layout};
        (with.layout.*member).push_back(override);
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

bool better(const Experiment& a, const Experiment& b) {
    if (a.step_seconds != b.step_seconds) return a.step_seconds < b.step_seconds;
    if (a.wire_bytes_per_device != b.wire_bytes_per_device) return a.wire_bytes_per_device < b.wire_bytes_per_device;
    return a.collectives < b.collectives;
}

bool same_figures(const Experiment& a, const Experiment& b) {
    return a.collectives == b.collectives && a.wire_bytes_per_device == b.wire_bytes_per_device && a.peak == b.peak &&
           a.step_seconds == b.step_seconds;
}

} // namespace

Experiment figures_of(const Plan& plan, const std::string& tensor) {
    const Report& report = plan.report;
    Experiment figures{"as it is",
                       collective_count(report),
                       wire_bytes_per_device(report),
                       report.memory.peak,
                       report.time.step_seconds,
                       0,
                       0,
                       {}};
    for (const CollectiveReport& collective : report.collectives) {
        figures.kinds[collective.kind] += collective.count;
        if (!touches(collective, tensor)) continue;
        figures.touching += collective.count;
        figures.touching_bytes += collective.wire_bytes_per_device;
    }
    return figures;
}

std::map<std::string, i64> kind_changes(const Experiment& experiment, const Experiment& base) {
    std::map<std::string, i64> changes = experiment.kinds;
    for (const auto& [kind, count] : base.kinds) changes[kind] -= count;
    std::erase_if(changes, [](const std::pair<const std::string, i64>& change) { return change.second == 0; });
    return changes;
}

std::vector<Experiment> find_remedies(const Compilation& c, const Sources& sources, const PlanRequest& request,
                                      const std::string& tensor, size_t most) {
    std::vector<Change> changes;
    drop_constraints(c, sources, changes);
    change_rules(c, sources, changes);
    drop_overrides(c, sources, changes);
    drop_fsdp(c, sources, changes);
    override_tensor(c, tensor, changes);
    const Experiment base = figures_of(*c.plan, tensor);
    std::vector<Experiment> found;
    for (const Change& change : changes) {
        Sources same = sources;
        PlanRequest other = request;
        other.layout = change.layout;
        other.without_constraints = change.without_constraints;
        const Compilation changed = compile(same, other);
        if (!changed.plan) continue; // the change does not fit the model
        Experiment experiment = figures_of(*changed.plan, tensor);
        experiment.change = change.text;
        bool helps = experiment.touching < base.touching || experiment.touching_bytes < base.touching_bytes;
        bool known = std::any_of(found.begin(), found.end(),
                                 [&](const Experiment& earlier) { return same_figures(earlier, experiment); });
        if (helps && !known) found.push_back(experiment);
    }
    std::stable_sort(found.begin(), found.end(), better);
    if (found.size() > most) found.resize(most);
    return found;
}

} // namespace shard
