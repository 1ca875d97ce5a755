// The build pass: walks the model's graph, calls modules, and adds nodes through the Builder.
#include "planner/build/build.h"

#include "planner/build/build_attributes.h"
#include "planner/build/build_calls.h"
#include "planner/build/build_gradient.h"
#include "planner/build/build_inputs.h"
#include "planner/build/build_manual.h"
#include "planner/build/build_operands.h"
#include "planner/build/build_scan.h"
#include "planner/build/build_training.h"
#include "planner/build/train.h"
#include "planner/grad/microbatches.h"
#include "planner/model/type_limits.h"
#include "plans/base/saturating.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace shard {

namespace {

constexpr size_t most_nodes = 200'000;  // a few nested repeats of a small file could ask for more than memory holds
constexpr i64 most_calls = 200'000;     // of modules: they may be empty
constexpr i64 most_entries = 1'000'000; // of a stack of layers: each has a key
constexpr size_t most_nested = 64;      // module in module

class ModelBuilder {
public:
    ModelBuilder(const Model& model, const Mesh* mesh, Diagnostics& diagnostics)
        : model_(model), mesh_(mesh), diagnostics_(diagnostics), builder_(graph_, diagnostics) {}

    std::optional<Graph> build(bool training) {
        if (!check_recursion(model_, diagnostics_)) return std::nullopt;
        builder_.set_random({key_from_seed(model_.seed), model_.keys,
                             model_.partitionable ? BitLayout::partitionable : BitLayout::legacy, training});
        Scope scope("", model_.graph);
        if (training && model_.train->microbatches > 1) {
            microbatch_ = model_of_microbatch(model_, diagnostics_);
            if (!microbatch_) return std::nullopt;
            open_microbatches(builder_, *model_.train);
        }
        bool ok = true;
        const DType compute = model_.precision.compute;
        for (const TensorDecl& decl : model_.inputs) ok = declare(scope, decl, Role::input, {}, compute) && ok;
        for (const TensorDecl& decl : model_.params) ok = declare(scope, decl, Role::param, {}, compute) && ok;
        ok = run(scope, model_.graph, {}) && ok;
        const BuiltValues outputs = scope.find_all(model_.outputs, graph_, diagnostics_);
        ok = ok && outputs;
        if (outputs) graph_.outputs = *outputs;
        for (ValueId id : graph_.outputs) builder_.mark_used(id);
        for (const Name& output : model_.outputs) graph_.output_names.push_back(output.text);
        if (model_.train)
            ok = (training ? run_training(scope) : mark_read_in_training(builder_, *model_.train, scope)) && ok;
        ok = attach_initializers(graph_, model_, owners_, diagnostics_) && ok;
        if (!ok) return std::nullopt;
        warn_unused(builder_, named_);
        return std::move(graph_);
    }

private:
    // The outputs of a step are the loss and the metrics.
    bool run_training(Scope& scope) {
        const TrainDecl& train = *model_.train;
        bool ok = true;
        for (const TensorDecl& target : train.targets) ok = declare(scope, target, Role::input, {}, DType::f32) && ok;
        graph_.outputs.clear();
        graph_.output_names.clear();
        const auto measure = [&](const Entry& entry, auto value_of) {
            Scope whole = scope;
            for (const Name& operand : entry.operands)
                if (const std::optional<ValueId> read = scope.find(operand.text, graph_);
                    read && *read != poisoned && model_.precision.compute != DType::f32)
                    whole.bind(operand.text, with_type(builder_, *read, DType::f32));
            const std::optional<std::vector<ValueId>> results = run_entry(whole, entry, {});
            const std::optional<ValueId> value = results ? value_of(builder_, entry, *results) : std::nullopt;
            ok = ok && value;
            if (!value) return poisoned;
            for (ValueId id : *results) builder_.mark_used(id);
            builder_.mark_used(*value);
            graph_.outputs.push_back(*value);
            graph_.output_names.push_back(entry.results[0].text);
            return *value;
        };
        graph_.loss = measure(train.loss, loss_of);
        for (const Entry& metric : train.metrics) measure(metric, metric_of);
        return ok;
    }

    // `seen_as`: the element type in which the graph has it, if it is f32.
    bool declare(Scope& scope, TensorDecl decl, Role role, const std::vector<std::string>& module_path, DType seen_as) {
        if (builder_.pattern()) scope.bind(decl.array.name.text, poisoned);
        if (builder_.pattern()) return refuse_in_gradient("a parameter", decl.array.name.span, diagnostics_);
        Value value;
        value.name = builder_.unique_name(scope.full(decl.array.name.text), "#");
        if (value.name != scope.full(decl.array.name.text)) {
            diagnostics_
                .error("E0234", decl.array.name.span, fmt::format("'{}' is declared twice", decl.array.name.text))
                .help("no input, parameter or target has the name of another value");
            return false;
        }
        const bool follows = decl.array.dtype == DType::f32; // `precision` is for what is not written otherwise
        if (role == Role::param && follows) decl.array.dtype = model_.precision.params;
        i64 entries = 1;
        for (const Scan& scan : open_scans_) entries = multiply_saturating(entries, scan.stack.layers);
        if (entries > most_entries) {
            diagnostics_.error("E0227", decl.array.name.span,
                               fmt::format("'{}' would be a stack of {} layers, more than {}", decl.array.name.text,
                                           entries, most_entries));
            scope.bind(decl.array.name.text, poisoned);
            return false;
        }
        const TensorDecl of_layer = decl;
        for (size_t s = open_scans_.size(); s-- > 0;) stack(decl, open_scans_[s]);
        value.type = {decl.array.dtype, decl.array.shape, decl.array.logical};
        value.type.logical.resize(decl.array.shape.size());
        if (const std::string_view problem = size_problem(decl.array.dtype, decl.array.shape); !problem.empty()) {
            diagnostics_.error(
                "E0227", decl.array.name.span,
                fmt::format("'{}' has shape {}: {}", decl.array.name.text, shape_text(decl.array.shape), problem));
            return false;
        }
        value.role = role;
        value.span = decl.array.name.span;
        value.decl = static_cast<int>(graph_.declared.size());
        graph_.declared.push_back(decl.array);
        graph_.declared.back().name.text = value.name;
        owners_.push_back({module_path, {}, decl.init});
        const ValueId id = builder_.add_input(std::move(value));
        ValueId bound = open_scans_.empty() ? id : entry_of_stack(id, decl, scope);
        if (region()) {
            builder_.set_place({scope.path(), graph_.value(id).name, decl.array.name.span, {}, {}, region_});
            const std::optional<ValueId> local = enter_declared(builder_, *mesh_, region_, bound, of_layer);
            scope.bind(decl.array.name.text, local.value_or(poisoned));
            if (!local) return false;
            bound = *local;
        }
        if (microbatch_ && role == Role::input)
            bound = rows_of_microbatch(builder_, id, decl.array.logical, microbatch_axis(model_));
        scope.bind(decl.array.name.text, follows ? with_type(builder_, bound, seen_as) : bound);
        return true;
    }

    // All entries of one graph. module_path: see attach_initializers.
    bool run(Scope& scope, const std::vector<Entry>& entries, const std::vector<std::string>& module_path) {
        bool ok = true;
        for (const Entry& entry : entries) {
            if (graph_.nodes.size() > most_nodes) {
                diagnostics_.error(
                    "E0227", entry.op.span,
                    fmt::format("the model has more than {} ops when modules and repeats are written out", most_nodes));
                return false;
            }
            const std::optional<std::vector<ValueId>> results = run_entry(scope, entry, module_path);
            ok = ok && results;
            if (results && results->size() != entry.results.size()) {
                diagnostics_
                    .error("E0231", entry.span,
                           fmt::format("'{}' has {} results, but {} names are given", entry.op.text, results->size(),
                                       entry.results.size()))
                    .help("several results are named with commas: `- q, k: {...}`");
                ok = false;
            }
            for (size_t n = 0; n < entry.results.size(); ++n) {
                const bool good = results && results->size() == entry.results.size();
                scope.bind(entry.results[n].text, good ? (*results)[n] : poisoned);
            }
        }
        return ok;
    }

    std::optional<std::vector<ValueId>> run_entry(Scope& scope, const Entry& entry,
                                                  const std::vector<std::string>& module_path) {
        if (entry.op.text == "value_and_grad") {
            const BuiltValues outputs = run_call(scope, differentiated_call(entry), module_path);
            const BuiltValues results = outputs ? value_and_gradients(builder_, scope, entry, *outputs) : std::nullopt;
            if (results) named_.insert(named_.end(), results->begin() + 1, results->end());
            return results;
        }
        if (called_module(model_, entry)) return run_call(scope, entry, module_path);
        if (entry.op.text == "manual") return run_manual(scope, entry, module_path);
        const OpDef* op = find_op(entry.op.text);
        const CompositeDef* composite = find_composite(entry.op.text);
        if (!op && !composite) {
            report_unknown_op(model_, entry, diagnostics_);
            return std::nullopt;
        }
        return run_op(scope, entry, op, composite);
    }

    BuiltValues run_manual(Scope& scope, const Entry& entry, const std::vector<std::string>& module_path) {
        const std::string path = unique_instance(scope.full(entry.results[0].text));
        ManualBuild build{builder_, model_, mesh_, region_, scope, entry, path, {}};
        build.run = [&](Scope& body, const std::vector<Entry>& entries, int region) {
            region_ = region;
            const bool ok = run(body, entries, module_path);
            region_ = -1;
            return ok;
        };
        const BuiltValues results = build_manual(build);
        if (results) named_.insert(named_.end(), results->begin(), results->end());
        return results;
    }

    BuiltValues run_op(Scope& scope, const Entry& entry, const OpDef* op, const CompositeDef* composite) {
        std::vector<std::string> paths;
        for (const Name& name : entry.results) paths.push_back(builder_.unique_name(scope.full(name.text), "#"));
        Builder::Place place{scope.path(), paths[0], entry.op.span, {}, {}, region_};
        for (const Name& name : entry.operands) {
            place.operand_spans.push_back(name.span);
            place.operand_names.push_back(name.text);
        }
        builder_.set_place(std::move(place));
        const std::optional<std::vector<ValueId>> operands = resolve_operands(builder_, scope, entry.operands);
        if (!operands) return std::nullopt;
        const OpDef::Arity arity = op ? op->operands : composite->operands;
        const int count = static_cast<int>(operands->size());
        if (count < arity.min || (arity.max >= 0 && count > arity.max))
            return builder_.emit_all(entry.op.text, *operands); // reports

        std::vector<TensorType> types;
        for (ValueId id : *operands) types.push_back(builder_.type(id));
        const ArgumentContext context{microbatch_ ? *microbatch_ : model_,
                                      entry.op.text,
                                      op ? op->attributes : composite->attributes,
                                      types,
                                      entry.op.span,
                                      diagnostics_,
                                      region()};
        const std::optional<ReadArguments> read = read_arguments(context, entry.arguments);
        if (!read) return std::nullopt;
        const size_t values_before = graph_.values.size();
        BuiltValues results = builder_.emit_all(entry.op.text, *operands, read->attributes);
        if (!results) return std::nullopt;
        for (size_t n = 0; n < results->size() && n < paths.size(); ++n)
            name_result((*results)[n], values_before, paths[n], entry.results[n].span);
        if (op) keep_constraint(graph_, *op, *read, results->front());
        return results;
    }

    const GraphRegion* region() const { return region_ < 0 ? nullptr : &graph_.regions[region_]; }

    void name_result(ValueId result, size_t values_before, const std::string& path, Span span) {
        if (static_cast<size_t>(result) >= values_before)
            builder_.rename(result, path, span);
        else
            graph_.aliases.emplace_back(path, result);
        named_.push_back(result);
    }

    // A module, once or repeated. Instances of one module in one scope are called block, block_2, ...; repetitions
    // block.0, block.1, ...
    std::optional<std::vector<ValueId>> run_call(Scope& scope, const Entry& entry,
                                                 const std::vector<std::string>& module_path) {
        const ModuleDecl& module = *called_module(model_, entry);
        if (module.gradient && builder_.pattern())
            return refuse_in_gradient("a module with a gradient of its own", entry.op.span, diagnostics_), std::nullopt;
        const bool repeated = entry.op.text == "repeat";
        const std::optional<Repeat> repeat = repeated ? read_repeat(model_, entry, diagnostics_) : Repeat{};
        const std::optional<std::string> name =
            repeated ? module.name.text : read_instance_name(module, entry, diagnostics_);
        if (!repeat || !name) return std::nullopt;
        const std::string instance = unique_instance(scope.full(*name));
        std::string own_name = instance.substr(scope.path().empty() ? 0 : scope.path().size() + 1);
        const std::optional<std::vector<ValueId>> operands = resolve_operands(builder_, scope, entry.operands);
        if (!operands) return std::nullopt;
        if (operands->size() != module.inputs.size()) {
            diagnostics_
                .error("E0221", entry.op.span,
                       fmt::format("module '{}' takes {} inputs, but {} are given", module.name.text,
                                   module.inputs.size(), operands->size()))
                .label(module.name.span, "declared here");
            return std::nullopt;
        }
        if (repeated && module.outputs.size() > module.inputs.size()) {
            diagnostics_
                .error("E0231", entry.op.span,
                       fmt::format("module '{}' cannot be repeated: it has {} outputs and {} inputs", module.name.text,
                                   module.outputs.size(), module.inputs.size()))
                .help("outputs go into the first inputs of the next repetition");
            return std::nullopt;
        }
        std::vector<std::string> path = module_path;
        path.push_back(own_name);
        const BuiltValues made =
            repeat->scan ? run_scan(module, entry, *repeat, instance, *operands, path)
                         : run_in_a_row(module, entry, repeated ? repeat->times : 0, instance, *operands, path);
        if (!made) return std::nullopt;
        const std::vector<ValueId>& outputs = *made;
        for (size_t n = 0; n < entry.results.size() && n < outputs.size(); ++n) {
            graph_.aliases.emplace_back(builder_.unique_name(scope.full(entry.results[n].text), "#"), outputs[n]);
            if (repeat->scan && outputs.size() > 1) builder_.mark_used(outputs[n]); // carried, if nothing else
            named_.push_back(outputs[n]);
        }
        return outputs;
    }

    // `times` 0: once, and not as the first of several.
    BuiltValues run_in_a_row(const ModuleDecl& module, const Entry& entry, i64 times, const std::string& instance,
                             std::vector<ValueId> carried, const std::vector<std::string>& path) {
        std::vector<ValueId> outputs;
        for (i64 n = 0; n < std::max<i64>(times, 1); ++n) {
            std::vector<std::string> inner_path = path;
            // Flax names the modules of a loop Name_0, Name_1, ...
            if (times > 0) inner_path.back() += fmt::format("_{}", n);
            if (!check_calls(entry, inner_path.size())) return std::nullopt;
            const BuiltValues results =
                run_module(module, times > 0 ? fmt::format("{}.{}", instance, n) : instance, carried, inner_path);
            if (!results) return std::nullopt;
            outputs = *results;
            if (times > 0) std::copy(outputs.begin(), outputs.end(), carried.begin());
        }
        return outputs;
    }

    BuiltValues run_scan(const ModuleDecl& module, const Entry& entry, const Repeat& repeat,
                         const std::string& instance, const std::vector<ValueId>& operands,
                         const std::vector<std::string>& path) {
        ScanBuild build{builder_, module, entry, repeat.times, repeat.reverse, instance, {}};
        build.run = [&](LoopBuilder& loop, const std::vector<ValueId>& carried) {
            open_scans_.push_back({&loop, repeat.axis, {scans_++, repeat.times, path.size() - 1}});
            const BuiltValues outputs = run_module(module, instance, carried, path);
            open_scans_.pop_back();
            return outputs;
        };
        // In a region, what is carried varies over what a trip makes of it too. That is known when a trip is built;
        // then it is built again, from where it began.
        CarriedVarying varying(module.outputs.size());
        if (builder_.pattern())
            return refuse_in_gradient("a loop", argument(entry, "scan")->key_span, diagnostics_), std::nullopt;
        for (;;) {
            if (!check_calls(entry, path.size())) return std::nullopt;
            if (region_ < 0) return build_scan(build, operands, varying);
            const auto state = [this] {
                return std::tie(graph_, builder_, diagnostics_, owners_, instances_, named_, scans_);
            };
            const std::tuple<Graph, Builder, Diagnostics, std::vector<TensorOwner>, std::set<std::string>,
                             std::vector<ValueId>, int>
                before = state();
            const CarriedVarying assumed = varying;
            const BuiltValues results = build_scan(build, operands, varying);
            if (results || varying == assumed) return results;
            state() = before;
        }
    }

    // The scan whose body is being built.
    struct Scan {
        LoopBuilder* loop;
        std::string axis;
        TensorOwner::Stack stack;
    };

    // A parameter of a scanned block, as it is declared: all layers of it.
    static void stack(TensorDecl& decl, const Scan& scan) {
        decl.array.logical.resize(decl.array.shape.size());
        decl.array.shape.insert(decl.array.shape.begin(), scan.stack.layers);
        decl.array.logical.insert(decl.array.logical.begin(), scan.axis);
        if (decl.array.mesh)
            decl.array.mesh->dims.insert(decl.array.mesh->dims.begin(), DimSpec{{}, false, 0, decl.array.mesh->span});
    }

    // What the body calls by the parameter's name: that of the running layer. What an outer scan's trip takes is taken
    // before the inner loop begins.
    ValueId entry_of_stack(ValueId entry, const TensorDecl& decl, const Scope& scope) {
        graph_.value(entry).stacked = static_cast<int>(open_scans_.size());
        builder_.set_place({scope.path(), scope.full(decl.array.name.text), decl.array.name.span, {}, {}});
        for (size_t s = 0; s < open_scans_.size(); ++s) {
            owners_.back().stacks.push_back(open_scans_[s].stack);
            const auto take = [&] { entry = open_scans_[s].loop->entry(entry); };
            if (s + 1 < open_scans_.size())
                open_scans_[s + 1].loop->in_front(take);
            else
                take();
        }
        builder_.rename(entry, builder_.unique_name(scope.full(decl.array.name.text) + ".layer", "_"),
                        decl.array.name.span);
        return entry;
    }

    bool check_calls(const Entry& entry, size_t nested) {
        if (++calls_ <= most_calls && nested <= most_nested && graph_.values.size() <= most_nodes) return true;
        diagnostics_.error(
            "E0227", entry.op.span,
            nested > most_nested
                ? fmt::format("modules are nested more than {} deep", most_nested)
                : fmt::format("the model has more than {} modules or values when repeats are written out", most_calls));
        return false;
    }

    std::string unique_instance(const std::string& path) {
        std::string candidate = path;
        for (int n = 2; !instances_.insert(candidate).second; ++n) candidate = fmt::format("{}_{}", path, n);
        return candidate;
    }

    std::optional<std::vector<ValueId>> run_module(const ModuleDecl& module, const std::string& path,
                                                   const std::vector<ValueId>& operands,
                                                   const std::vector<std::string>& module_path) {
        const int around = builder_.remat();
        if (module.remat != Remat::none) {
            builder_.set_remat(static_cast<int>(graph_.remats.size()));
            graph_.remats.push_back(module.remat);
        }
        Scope scope(path, module.graph, region_);
        for (size_t n = 0; n < operands.size(); ++n) scope.bind(module.inputs[n].text, operands[n]);
        bool ok = true;
        for (const TensorDecl& decl : module.params)
            ok = declare(scope, decl, Role::param, module_path, model_.precision.compute) && ok;
        DeclaredGradient gradient(builder_, module, scope);
        gradient.run = [&](Scope& inner, const std::vector<Entry>& entries) {
            return run(inner, entries, module_path);
        };
        ok = run(scope, module.graph, module_path) && ok;
        BuiltValues outputs = scope.find_all(module.outputs, graph_, diagnostics_);
        if (ok && outputs && module.gradient) outputs = declare_gradient(gradient, *outputs);
        builder_.set_remat(around);
        return ok ? outputs : std::nullopt;
    }

    const Model& model_;
    const Mesh* mesh_; // the layout's, for manual regions; nullptr: unknown
    Diagnostics& diagnostics_;
    Graph graph_;
    Builder builder_;
    std::optional<Model> microbatch_; // the model as a microbatch sees it, if there are several
    std::vector<Scan> open_scans_;    // outer before inner
    int scans_ = 0;
    std::vector<TensorOwner> owners_; // by declared tensor
    int region_ = -1;                 // the manual region that is being built
    std::set<std::string> instances_; // paths taken
    i64 calls_ = 0;                   // of modules, every repetition counted
    std::vector<ValueId> named_;      // results that the user named, in order
};

} // namespace

std::optional<Graph> build_graph(const Model& model, Diagnostics& diagnostics, const Mesh* mesh) {
    return ModelBuilder(model, mesh, diagnostics).build(false);
}

std::optional<Graph> build_train_graph(const Model& model, Diagnostics& diagnostics, const Mesh* mesh) {
    return ModelBuilder(model, mesh, diagnostics).build(true);
}

} // namespace shard
