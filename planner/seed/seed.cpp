#include "planner/seed/seed.h"

#include "planner/graph/view.h"
#include "planner/model/names.h"
#include "planner/model/rules.h"
#include "planner/model/sharding_checks.h"
#include "planner/seed/fsdp_dim.h"
#include "planner/seed/join_alike.h"
#include "planner/seed/named_arrays.h"
#include "planner/seed/overrides.h"
#include "planner/seed/split_states.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace shard {

namespace {

// The first report of each kind at each set of places: a module that is repeated has the same mistake in every copy.
void add_distinct(const Diagnostics& found, Diagnostics& diagnostics) {
    std::set<std::vector<int>> seen;
    for (const Diagnostic& diagnostic : found.all()) {
        std::vector<int> key(diagnostic.code.begin(), diagnostic.code.end());
        for (const Label& label : diagnostic.labels)
            key.insert(key.end(), {label.span.file, label.span.line, label.span.column});
        if (seen.insert(std::move(key)).second) diagnostics.add(diagnostic);
    }
}

constexpr size_t max_listed = 3;

class Seeder {
public:
    Seeder(const Graph& graph, const Layout& layout, Diagnostics& diagnostics)
        : graph_(&graph), layout_(&layout), mesh_(&layout.mesh), diagnostics_(&diagnostics) {
        seeds_.values.resize(graph.values.size());
        seeds_.constraints.resize(graph.nodes.size());
        seeds_.outputs.resize(graph.outputs.size());
        seeds_.gathered.resize(graph.values.size());
        seeds_.rejected_by_value.resize(graph.values.size());
    }

    // Mesh axes that do not exist are found everywhere at once, also where nothing comes of them.
    bool check_axes() {
        if (layout_->missing_axes == MissingAxes::ignore) return true;
        const int before = diagnostics_->error_count();
        check_rule_axes(*mesh_, layout_->rules, *diagnostics_);
        for (const std::vector<Override>* list : {&layout_->inputs, &layout_->params, &layout_->values,
                                                  &layout_->outputs, &layout_->states, &layout_->gradients})
            for (const Override& override : *list) check_spec_axes(*mesh_, override.spec, *diagnostics_);
        if (layout_->fsdp) check_fsdp_axes(*layout_->fsdp);
        for (const ArrayDecl& decl : graph_->declared) {
            check_rule_axes(*mesh_, decl.rules, *diagnostics_);
            if (decl.mesh) check_spec_axes(*mesh_, *decl.mesh, *diagnostics_);
        }
        for (const Node& node : graph_->nodes)
            if (node.asked().mesh) check_spec_axes(*mesh_, *node.asked().mesh, *diagnostics_);
        return diagnostics_->error_count() == before;
    }

    Seeds seed() {
        seed_declared(Role::input, layout_->inputs, "inputs");
        seed_declared(Role::param, layout_->params, "params");
        warn_of_whole();
        warn_of_small();
        seed_owned(Role::state, layout_->states, "states");
        seed_owned(Role::gradient, layout_->gradients, "gradients");
        for (size_t n = 0; n < graph_->nodes.size(); ++n) seed_constraint(static_cast<NodeId>(n));
        for (const Node& node : graph_->nodes) seed_border(node);
        seed_values();
        seed_outputs();
        return std::move(seeds_);
    }

private:
    void check_fsdp_axes(const FsdpDecl& fsdp) {
        for (const Name& axis : fsdp.axes) {
            if (mesh_->find(axis.text)) continue;
            DiagnosticBuilder error =
                diagnostics_->error("E0316", axis.span, fmt::format("unknown mesh axis '{}'", axis.text));
            suggest_axis(error, axis.text, *mesh_);
        }
    }

    void seed_declared(Role role, std::span<const Override> overrides, std::string_view section) {
        std::vector<OverrideTarget> targets;
        std::vector<ValueId> ids;
        for (ValueId id : graph_->inputs) {
            const Role has = graph_->value(id).role;
            if (has != role && (has != Role::variable || role != Role::param)) continue; // declared alike
            targets.push_back({graph_->value(id).name});
            ids.push_back(id);
        }
        const std::vector<int> chosen = match_overrides(overrides, targets, section, *diagnostics_);
        for (size_t i = 0; i < ids.size(); ++i) {
            const Value& value = graph_->value(ids[i]);
            std::optional<Sharding>& seed = seeds_.values[ids[i]];
            const CheckedArray array = {value.name, &value.type, value.span};
            const ArrayDecl* decl = value.decl < 0 ? nullptr : &graph_->declared[value.decl];
            Decision why;
            why.value = ids[i];
            if (chosen[i] >= 0) {
                const Override& override = overrides[chosen[i]];
                why.cause = Decision::Cause::override_;
                seed = from_spec(override.spec, array, why);
            } else if (decl != nullptr && decl->mesh) {
                why.cause = Decision::Cause::mesh_spec;
                seed = from_spec(*decl->mesh, array, why);
            } else if (decl != nullptr && decl->has_axes) {
                seed = from_rules({decl->logical, decl->rules, value.span}, array, why);
            }
            // An override says all that there is to say about a parameter.
            if (value.role == Role::param && chosen[i] < 0) split_by_fsdp(ids[i]);
        }
    }

    void split_by_fsdp(ValueId id) {
        const std::vector<AxisRef> axes = fsdp_axes(*layout_);
        if (axes.empty()) return;
        const Value& value = graph_->value(id);
        std::optional<Sharding>& seed = seeds_.values[id];
        Sharding stored = seed.value_or(open_sharding(value.type.rank()));
        // Of a stack the layer is what is gathered, so the layer is split.
        TensorType type = value.type;
        Sharding of_layer = stored;
        for (int s = 0; s < value.stacked; ++s) {
            for (const AxisRef& axis : axes)
                if (overlaps_any(axis, of_layer.dims[0].axes)) {
                    fits_none_ = false;
                    return;
                }
            type.shape.erase(type.shape.begin());
            of_layer.dims.erase(of_layer.dims.begin());
        }
        FsdpChoice choice = choose_fsdp_dim(*layout_->fsdp, axes, type, of_layer);
        choice.dim += value.stacked;
        if (choice.fit == FsdpFit::no_dim) left_whole_.push_back(id);
        if (choice.fit != FsdpFit::too_small) fits_none_ = false;
        if (choice.fit == FsdpFit::too_small && type.elements() > most_elements_) {
            most_elements_ = type.elements();
            largest_ = id;
        }
        if (choice.fit != FsdpFit::splits) return;
        Sharding gathered = stored;
        gathered.dims[choice.dim] = {};
        gathered.replicated.insert(gathered.replicated.end(), choice.axes.begin(),
                                   choice.axes.end()); // other dims may be open
        seeds_.gathered[id] = std::move(gathered);
        stored.dims[choice.dim] = {choice.axes, false, stored_priority()};
        seed = std::move(stored);
        Decision why;
        why.value = id;
        why.cause = Decision::Cause::fsdp;
        log(why, choice.dim, choice.axes, -1, layout_->fsdp->span);
    }

    void warn_of_whole() {
        if (left_whole_.empty()) return;
        std::string names;
        for (size_t n = 0; n < std::min(left_whole_.size(), max_listed); ++n)
            names += fmt::format("{}'{}'", n == 0 ? "" : ", ", graph_->value(left_whole_[n]).name);
        if (left_whole_.size() > max_listed) names += fmt::format(" and {} more", left_whole_.size() - max_listed);
        std::string axes;
        for (const Name& axis : layout_->fsdp->axes) axes += (axes.empty() ? "" : " x ") + axis.text;
        DiagnosticBuilder warning =
            diagnostics_->warning("W0308", layout_->fsdp->span,
                                  fmt::format("fsdp leaves {} whole: '{}' of size {} divides no dim that is free",
                                              names, axes, total_size(fsdp_axes(*layout_))));
        warning.label(graph_->value(left_whole_[0]).span, "declared here");
    }

    bool is_as_xla() const { return layout_->partitioner == Partitioner::xla; }
    // To XLA an argument's sharding is one, whatever it is for.
    int stored_priority() const { return is_as_xla() ? 0 : storage_priority; }

    // Who writes fsdp for a small model, and sees no difference, has not read of min_size.
    void warn_of_small() {
        if (!fits_none_ || largest_ < 0) return;
        diagnostics_
            ->warning(
                "W0308", layout_->fsdp->span,
                fmt::format("fsdp splits no parameter: '{}', the largest, has {} elements, less than min_size, {}",
                            graph_->value(largest_).name, most_elements_, layout_->fsdp->min_size))
            .label(graph_->value(largest_).span, "declared here")
            .help(fmt::format("write min_size: {}, or less", most_elements_));
    }

    // States and gradients are sharded like their parameter, unless the layout says otherwise; gradients like states that are
    // split further.
    void seed_owned(Role role, std::span<const Override> overrides, std::string_view section) {
        std::vector<OverrideTarget> targets;
        std::vector<ValueId> ids;
        for (ValueId id = 0; id < static_cast<ValueId>(graph_->values.size()); ++id) {
            const Value& value = graph_->value(id);
            if (value.role != role) continue;
            targets.push_back({role == Role::gradient ? graph_->value(value.of).name : value.name});
            ids.push_back(id);
        }
        if (ids.empty()) return; // a forward pass has neither
        const std::vector<int> chosen = match_overrides(overrides, targets, section, *diagnostics_);
        const std::map<ValueId, ValueId> of_states =
            role == Role::gradient ? split_states(*graph_, seeds_) : std::map<ValueId, ValueId>();
        for (size_t i = 0; i < ids.size(); ++i) {
            const Value& value = graph_->value(ids[i]);
            std::optional<Sharding>& seed = seeds_.values[ids[i]];
            Decision why;
            why.value = ids[i];
            if (chosen[i] >= 0) {
                why.cause = Decision::Cause::override_;
                seed = from_spec(overrides[chosen[i]].spec, {value.name, &value.type, value.span}, why);
                if (!seed) continue;
                for (DimSharding& dim : seed->dims)
                    if (!dim.axes.empty()) dim.priority = stored_priority();
            } else if (role == Role::gradient && is_as_xla()) {
                continue; // what a gradient is like is XLA's to find
            } else if (const auto state = of_states.find(ids[i]); state != of_states.end()) {
                seed = seeds_.values[state->second];
                why.cause = Decision::Cause::parameter;
                why.from = state->second;
                for (size_t d = 0; d < seed->dims.size(); ++d) log(why, d, seed->dims[d].axes, -1, {});
            } else if (value.of >= 0 && seeds_.values[value.of]) {
                seed = seeds_.values[value.of];
                const Shape& parameter = graph_->value(value.of).type.shape;
                for (size_t d = 0; d < seed->dims.size(); ++d)
                    if (value.type.shape[d] != parameter[d]) seed->dims[d] = {}; // a mean over the dim
                why.cause = Decision::Cause::parameter;
                why.from = value.of;
                for (size_t d = 0; d < seed->dims.size(); ++d) log(why, d, seed->dims[d].axes, -1, {});
            }
        }
    }

    void seed_constraint(NodeId id) {
        const Node& node = graph_->node(id);
        if (!is_constraint(node)) return;
        const Value& value = graph_->value(node.outputs[0]);
        const CheckedArray array = {value.name, &value.type, node.span};
        Decision why;
        why.value = node.outputs[0];
        why.cause = Decision::Cause::constraint;
        why.node = id;
        std::optional<Sharding>& constraint = seeds_.constraints[id];
        if (node.asked().mesh) {
            constraint = from_spec(*node.asked().mesh, array, why);
        } else if (node.asked().logical.size() != value.type.shape.size()) {
            diagnostics_->error("E0312", node.span,
                                fmt::format("the constraint names {} dims, '{}' has {} {}", node.asked().logical.size(),
                                            value.name, value.type.shape.size(), shape_text(value.type.shape)));
        } else {
            constraint = from_rules({node.asked().logical, {}, node.span}, array, why);
        }
    }

    // What leaves a manual region is put together as the region says.
    void seed_border(const Node& node) {
        if (!node.asked().border || graph_->value(node.outputs[0]).region >= 0) return;
        const Value& value = graph_->value(node.outputs[0]);
        Decision why;
        why.value = node.outputs[0];
        why.cause = Decision::Cause::mesh_spec;
        seeds_.values[node.outputs[0]] = from_spec(*node.asked().border, {value.name, &value.type, node.span}, why);
    }

    void seed_values() {
        if (layout_->values.empty()) return;
        std::vector<int> chosen = match_overrides(layout_->values, value_targets(*graph_), "values", *diagnostics_);
        // What a caller calls a module's result is a second name of the same value.
        for (size_t a = 0; a < graph_->aliases.size(); ++a) {
            int& of_value = chosen[graph_->aliases[a].second];
            of_value = std::max(of_value, chosen[graph_->values.size() + a]);
        }
        for (size_t v = 0; v < graph_->values.size(); ++v) {
            if (chosen[v] < 0) continue;
            const Value& value = graph_->values[v];
            Decision why;
            why.value = static_cast<ValueId>(v);
            why.cause = Decision::Cause::override_;
            seeds_.values[v] = from_spec(layout_->values[chosen[v]].spec, {value.name, &value.type, value.span}, why);
        }
    }

    void seed_outputs() {
        std::vector<OverrideTarget> targets;
        for (const std::string& name : graph_->output_names) targets.push_back({name});
        const std::vector<int> chosen = match_overrides(layout_->outputs, targets, "outputs", *diagnostics_);
        for (size_t o = 0; o < chosen.size(); ++o) {
            if (chosen[o] < 0) continue;
            const Value& value = graph_->value(graph_->outputs[o]);
            Decision why;
            why.value = graph_->outputs[o];
            why.cause = Decision::Cause::output;
            seeds_.outputs[o] =
                from_spec(layout_->outputs[chosen[o]].spec, {graph_->output_names[o], &value.type, value.span}, why);
        }
        if (is_as_xla()) seed_updates();
    }

    // To XLA what replaces an argument is a result with the argument's sharding.
    void seed_updates() {
        const std::vector<int> updates = updates_by_output(*graph_);
        for (size_t o = 0; o < graph_->outputs.size(); ++o)
            if (updates[o] >= 0 && !seeds_.outputs[o])
                seeds_.outputs[o] = seeds_.values[graph_->updates[static_cast<size_t>(updates[o])].input];
    }

    // Of a local value of a manual region the region's axes have their say already.
    const GraphRegion* region_of(ValueId id) const {
        const int region = graph_->value(id).region;
        return region < 0 ? nullptr : &graph_->regions[region];
    }

    bool check_leaves_region_alone(const GraphRegion* region, const ShardingSpec& spec) {
        if (region == nullptr) return true;
        for (const DimSpec& dim : spec.dims)
            for (const std::string& written : dim.axes)
                for (const std::string& name : region->names)
                    if (written.substr(0, written.find(':')) == name) {
                        diagnostics_
                            ->error("E0272", dim.span.known() ? dim.span : spec.span,
                                    fmt::format("the region is manual over '{}': a value of its body is what one "
                                                "device along it has",
                                                name))
                            .label(region->span, "the region")
                            .help("leave the axis out here; the region's `in` and `out` say how it splits");
                        return false;
                    }
        return true;
    }

    std::optional<Sharding> from_spec(const ShardingSpec& written, const CheckedArray& array, const Decision& why) {
        if (!check_leaves_region_alone(region_of(why.value), written)) return std::nullopt;
        const bool ignore = layout_->missing_axes == MissingAxes::ignore;
        const ShardingSpec spec = ignore ? without_missing_axes(*mesh_, written) : written;
        // What is left may still be a sub-axis that does not fit.
        if (ignore && !check_spec_axes(*mesh_, spec, *diagnostics_)) return std::nullopt;
        std::optional<Sharding> sharding = spec_sharding(*mesh_, spec, array, *diagnostics_);
        if (!sharding) return std::nullopt;
        const std::vector<Span> causes = dim_spans(spec);
        drop_uneven(*mesh_, layout_->divisibility, *sharding, array, causes, *diagnostics_);
        if (!check_divides(*mesh_, *sharding, array, causes, *diagnostics_, &layout_->divisibility))
            return std::nullopt;
        warn_of_empty_parts(*mesh_, layout_->divisibility, *sharding, array, causes, *diagnostics_);
        for (size_t d = 0; d < causes.size(); ++d) log(why, d, sharding->dims[d].axes, -1, causes[d]);
        return sharding;
    }

    std::optional<Sharding> from_rules(const NamedArray& named, const CheckedArray& array, const Decision& why) {
        const std::optional<RuleOutcome> outcome = apply_rules(*layout_, named, *diagnostics_);
        if (!outcome) return std::nullopt;
        const std::vector<AxisRule> rules = rules_of(*layout_, named);
        Sharding sharding;
        std::vector<Span> causes;
        const GraphRegion* region = region_of(why.value);
        for (const RuleOutcome::Dim& dim : outcome->dims) {
            sharding.dims.push_back({dim.axes, dim.open, 0});
            if (region != nullptr)
                std::erase_if(sharding.dims.back().axes,
                              [&](const AxisRef& axis) { return overlaps_any(axis, region->axes); });
            causes.push_back(dim.rule < 0 ? array.span : rules[dim.rule].span);
        }
        const std::vector<std::vector<AxisRef>> dropped =
            drop_uneven(*mesh_, layout_->divisibility, sharding, array, causes, *diagnostics_);
        if (!check_divides(*mesh_, sharding, array, causes, *diagnostics_, &layout_->divisibility)) return std::nullopt;
        warn_of_empty_parts(*mesh_, layout_->divisibility, sharding, array, causes, *diagnostics_);
        const bool own_only = layout_->semantics == RuleSemantics::linen && !named.own.empty();
        const int layout_rules = own_only ? 0 : static_cast<int>(layout_->rules.size());
        for (size_t d = 0; d < causes.size(); ++d) {
            const int rule = outcome->dims[d].rule;
            log(why, d, dropped[d].empty() ? outcome->dims[d].axes : sharding.dims[d].axes,
                rule < layout_rules ? rule : -1, causes[d]);
        }
        std::string& rejected = seeds_.rejected_by_value[why.value];
        const auto reject = [&rejected](const AxisRule& rule, std::string_view reason) {
            rejected +=
                fmt::format("{}{} (line {}): {}", rejected.empty() ? "" : "\n", text(rule), rule.span.line, reason);
        };
        for (size_t d = 0; d < dropped.size(); ++d)
            for (const AxisRef& axis : dropped[d])
                if (outcome->dims[d].rule >= 0)
                    reject(rules[outcome->dims[d].rule],
                           fmt::format("{} does not divide the dim, and is dropped", text(*mesh_, axis)));
        for (const RuleOutcome::Rejected& each : outcome->rejected) reject(rules[each.rule], each.reason);
        return sharding;
    }

    void log(const Decision& why, size_t dim, const std::vector<AxisRef>& axes, int rule, Span span) {
        if (axes.empty()) return;
        Decision decision = why;
        decision.dim = static_cast<int>(dim);
        decision.axes = axes;
        decision.rule = rule;
        decision.span = span;
        seeds_.log.push_back(std::move(decision));
    }

    const Graph* graph_;
    const Layout* layout_;
    const Mesh* mesh_;
    Diagnostics* diagnostics_;
    std::vector<ValueId> left_whole_; // that fsdp would split if it could
    bool fits_none_ = true;           // every parameter is too small for fsdp; the largest of them:
    ValueId largest_ = -1;
    i64 most_elements_ = 0;
    Seeds seeds_;
};

} // namespace

std::optional<Seeds> seed_shardings(const Graph& graph, const Layout& layout, Diagnostics& diagnostics) {
    Diagnostics found;
    Seeder seeder(graph, layout, found);
    std::optional<Seeds> seeds;
    if (seeder.check_axes()) seeds = seeder.seed();
    add_distinct(join_alike(found), diagnostics);
    if (found.has_error()) return std::nullopt;
    return seeds;
}

} // namespace shard
