// Calls of modules, once or as loops.
#include "planner/build/build_calls.h"
#include "planner/build/build_gradient.h"
#include "planner/build/build_operands.h"
#include "planner/build/build_remat.h"
#include "planner/build/build_scan.h"
#include "planner/build/model_builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

namespace {

constexpr i64 most_calls = 200'000; // of modules: they may be empty
constexpr size_t most_nested = 64;  // module in module

// What a loop of the instance ends with, as it is called until somebody names it.
bool is_unnamed_end(const Graph& graph, ValueId id, const std::string& instance) {
    const Value& value = graph.value(id);
    return value.producer >= 0 && std::holds_alternative<LoopCloses>(graph.nodes[value.producer].does) &&
           value.name.starts_with(instance + ".result");
}

} // namespace

BuiltValues ModelBuilder::call(Scope& scope, const Entry& entry, const ModulePath& around) {
    const ModuleDecl* module = model_.find_module(entry.op.text);
    internal_check(module != nullptr, "a call of no module");
    if (!may_call(*module, entry)) return std::nullopt;
    const std::optional<std::string> name = read_instance_name(model_, *module, entry, diagnostics_);
    if (!name) return std::nullopt;
    return call_as(scope, entry, *module, *name, around, [this](const ModuleCall& call) { return run_once(call); });
}

bool ModelBuilder::may_call(const ModuleDecl& module, const Entry& entry) {
    if (!module.gradient || !builder_.pattern()) return true;
    return refuse_in_gradient("a module with a gradient of its own", entry.op.span, diagnostics_);
}

BuiltValues ModelBuilder::call_as(Scope& scope, const Entry& entry, const ModuleDecl& module, const std::string& name,
                                  const ModulePath& around, const std::function<BuiltValues(const ModuleCall&)>& run) {
    ModuleCall call{module, entry, unique_instance(scope.full(name)), {}, around};
    call.path.push_back(call.instance.substr(scope.path().empty() ? 0 : scope.path().size() + 1));
    const BuiltValues operands = resolve_operands(builder_, scope, entry.operands, model_.axes);
    if (!operands) return std::nullopt;
    if (operands->size() != module.inputs.size()) {
        diagnostics_
            .error("E0221", entry.op.span,
                   fmt::format("module '{}' takes {} inputs, but {} are given", module.name.text, module.inputs.size(),
                               operands->size()))
            .label(module.name.span, "declared here");
        return std::nullopt;
    }
    call.operands = *operands;
    const BuiltValues outputs = run(call);
    if (!outputs) return std::nullopt;
    for (size_t n = 0; n < entry.results.size() && n < outputs->size(); ++n) {
        const ValueId output = (*outputs)[n];
        const std::string path = builder_.unique_name(scope.full(entry.results[n].text), "#");
        if (is_unnamed_end(graph_, output, call.instance))
            builder_.rename(output, path, entry.results[n].span);
        else
            graph_.aliases.emplace_back(path, output);
        named_.push_back(output);
    }
    return outputs;
}

BuiltValues ModelBuilder::run_once(const ModuleCall& call) {
    if (!check_calls(call.entry, call.path.size())) return std::nullopt;
    return run_module(call);
}

BuiltValues ModelBuilder::run_scanned(const ModuleCall& call, const ScanOptions& options) {
    if (builder_.pattern())
        return refuse_in_gradient("a loop", argument(call.entry, "scan")->key_span, diagnostics_), std::nullopt;
    if (!check_calls(call.entry, call.path.size())) return std::nullopt;
    const CarriedVarying settled = region_ < 0 ? CarriedVarying(options.carried()) : settled_varying(call, options);
    CarriedVarying varying = settled;
    const BuiltValues outputs = build_loop(call, options, varying);
    internal_check(outputs || varying == settled, "a loop varies over more than when it was tried");
    return outputs;
}

// A module that is called twice is built twice, and what stands there is one thing.
void ModelBuilder::warn_of_axis(const ModuleCall& call) {
    const YamlEntry* axis = argument(call.entry, "axis");
    internal_check(axis != nullptr, "an axis that nobody wrote");
    const auto is_same = [&](const Diagnostic& said) {
        return said.code == "W0203" && said.labels.front().span == axis->key_span;
    };
    if (std::any_of(diagnostics_.all().begin(), diagnostics_.all().end(), is_same)) return;
    diagnostics_
        .warning("W0203", axis->key_span,
                 fmt::format("'axis' names nothing: the loop over '{}' stacks no parameters and no results",
                             call.module.name.text))
        .help("leave it away");
}

BuiltValues ModelBuilder::build_loop(const ModuleCall& call, const ScanOptions& options, CarriedVarying& varying) {
    ScanBuild build{builder_,      call.module, call.entry,   options.trips, options.reverse,
                    call.instance, {},          options.axis, options.over,  options.stacked};
    const size_t before = updates_.size();
    build.run = [&](LoopBuilder& loop, const std::vector<ValueId>& carried) {
        open_scans_.push_back({&loop, options.axis, {scans_++, options.trips, call.path.size() - 1}});
        const BuiltValues outputs = run_module({call.module, call.entry, call.instance, carried, call.path});
        const bool stacks =
            open_scans_.back().stacks_any || options.carried() < options.stacked.size() || updates_.size() > before;
        open_scans_.pop_back();
        if (outputs && !stacks && !options.axis.empty()) warn_of_axis(call);
        return outputs;
    };
    build.leaves = [&] {
        std::vector<ValueId> made;
        for (size_t n = before; n < updates_.size(); ++n) made.push_back(updates_[n].made);
        return made;
    };
    build.stacked = [&](const std::vector<ValueId>& stacks) {
        for (size_t n = 0; n < stacks.size(); ++n) updates_[before + n].made = stacks[n];
    };
    return build_scan(build, call.operands, varying);
}

// Nothing of the graph around matters but what the operands are. So trips are tried in a graph of their own, and once
// for all loops that an entry becomes; what is wrong with them is reported where the loop is built.
CarriedVarying ModelBuilder::settled_varying(const ModuleCall& call, const ScanOptions& options) {
    const GraphRegion& region = graph_.regions[region_];
    const Span& span = call.entry.op.span;
    std::string loop = fmt::format("{}:{}:{} {} {}", span.file, span.line, span.column, region.names, region.check);
    for (ValueId id : call.operands) {
        const Value& value = graph_.value(id);
        loop += fmt::format(" {}{}{} {}{}", name(value.type.dtype), value.type.shape, value.type.logical, value.varying,
                            value.region < 0 ? "" : " local");
    }
    if (const auto known = settled_.find(loop); known != settled_.end()) return known->second;
    CarriedVarying varying(options.carried()), assumed;
    bool settled = false;
    while (!settled) {
        Diagnostics unheard;
        ModelBuilder trial(model_, mesh_, unheard);
        trial.builder_.set_random(builder_.random());
        trial.microbatch_ = microbatch_;
        trial.graph_.regions = {region};
        trial.region_ = 0;
        trial.settled_ = std::move(settled_);
        ModuleCall tried = call;
        for (ValueId& id : tried.operands) {
            Value value = graph_.value(id);
            value.producer = value.loop = -1;
            value.region = std::min(value.region, 0);
            id = trial.builder_.add_value(std::move(value));
        }
        assumed = varying;
        settled = trial.build_loop(tried, options, varying).has_value() || varying == assumed;
        settled_ = std::move(trial.settled_);
    }
    return settled_[loop] = varying;
}

BuiltValues ModelBuilder::run_module(const ModuleCall& call) {
    const ModuleDecl& module = call.module;
    const int remat_around = builder_.remat();
    if (module.remat != Remat::none) {
        builder_.set_remat(static_cast<int>(graph_.remats.size()));
        graph_.remats.push_back(module.remat);
    }
    const BuiltCall built{module, call.instance, call.operands, graph_.values.size(), graph_.aliases.size()};
    Scope scope(call.instance, module.graph, region_);
    for (size_t n = 0; n < call.operands.size(); ++n) scope.bind(module.inputs[n].text, call.operands[n]);
    bool ok = true;
    for (const TensorDecl& decl : module.params)
        ok = declare(scope, decl, Role::param, call.path, model_.precision.compute) && ok;
    for (const TensorDecl& decl : module.variables)
        ok = declare(scope, decl, Role::variable, call.path, model_.precision.compute) && ok;
    DeclaredGradient gradient(builder_, module, scope);
    gradient.run = [&](Scope& inner, const std::vector<Entry>& entries) { return run(inner, entries, call.path); };
    ok = run(scope, module.graph, call.path) && ok;
    BuiltValues outputs = scope.find_all(module.outputs, graph_, diagnostics_);
    ok = note_updates(scope, module.updates) && ok;
    ok = ok && keep_named(graph_, built, unknown_kept_, diagnostics_);
    if (ok && outputs && module.gradient) outputs = declare_gradient(gradient, *outputs);
    builder_.set_remat(remat_around);
    return ok ? outputs : std::nullopt;
}

bool ModelBuilder::check_calls(const Entry& entry, size_t nested) {
    if (++calls_ <= most_calls && nested <= most_nested && graph_.values.size() <= most_nodes) return true;
    diagnostics_.error(
        "E0227", entry.op.span,
        nested > most_nested
            ? fmt::format("modules are nested more than {} deep", most_nested)
            : fmt::format("the model has more than {} modules or values when repeats are written out", most_calls));
    return false;
}

std::string ModelBuilder::unique_instance(const std::string& path) {
    const auto [taken, is_free] = instances_.emplace(path, 1);
    if (is_free) return path;
    for (;;) {
        std::string candidate = fmt::format("{}_{}", path, ++taken->second);
        if (instances_.emplace(candidate, 1).second) return candidate;
    }
}

} // namespace shard
