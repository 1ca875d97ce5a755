// The build pass: walks the model's graph, calls modules, and adds nodes through the Builder.
#include "planner/build_attributes.h"
#include "planner/build_inputs.h"
#include "planner/build_training.h"
#include "planner/graph_order.h"
#include "planner/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace shard {

namespace {

// More nodes than any model needs; a few nested repeats of a small file could ask for more than memory holds.
constexpr size_t most_nodes = 200'000;
constexpr i64 most_calls = 200'000; // of modules: they may be empty
constexpr size_t most_nested = 64;  // module in module

class ModelBuilder {
public:
    ModelBuilder(const Model& model, Diagnostics& diagnostics)
        : model_(model), diagnostics_(diagnostics), builder_(graph_, diagnostics) {}

    std::optional<Graph> build(bool training) {
        if (!check_recursion()) return std::nullopt;
        Scope scope("", model_.graph);
        bool ok = true;
        for (const TensorDecl& decl : model_.inputs) ok = declare(scope, decl, Role::input, {}) && ok;
        for (const TensorDecl& decl : model_.params) ok = declare(scope, decl, Role::param, {}) && ok;
        ok = run(scope, model_.graph, {}) && ok;
        for (const Name& output : model_.outputs) {
            const std::optional<ValueId> value = scope.find(output.text, graph_);
            if (!value) scope.report_unknown(output, diagnostics_);
            ok = ok && value && *value != poisoned;
            if (!value || *value == poisoned) continue;
            builder_.mark_used(*value);
            graph_.outputs.push_back(*value);
            graph_.output_names.push_back(output.text);
        }
        if (model_.train) ok = (training ? run_training(scope) : spare_what_training_reads(scope)) && ok;
        ok = attach_initializers(graph_, model_, module_paths_, diagnostics_) && ok;
        if (!ok) return std::nullopt;
        warn_unused();
        return std::move(graph_);
    }

private:
    // A module that calls itself, directly or through others, would never end.
    bool check_recursion() {
        std::vector<std::pair<int, int>> calls;
        for (size_t m = 0; m < model_.modules.size(); ++m)
            for (const Entry& entry : model_.modules[m].graph)
                if (const ModuleDecl* callee = called_module(entry))
                    calls.emplace_back(static_cast<int>(m), static_cast<int>(callee - model_.modules.data()));
        const std::vector<int> cycle = find_cycle(static_cast<int>(model_.modules.size()), calls);
        if (cycle.empty()) return true;
        std::string text;
        for (int m : cycle) text += model_.modules[static_cast<size_t>(m)].name.text + " -> ";
        const Name& first = model_.modules[static_cast<size_t>(cycle[0])].name;
        diagnostics_
            .error("E0230", first.span, fmt::format("module '{}' calls itself: {}{}", first.text, text, first.text))
            .help("a module may not contain itself; write `repeat` for several in a row");
        return false;
    }

    // The outputs of a step are the loss and the metrics.
    bool run_training(Scope& scope) {
        const TrainDecl& train = *model_.train;
        bool ok = true;
        for (const TensorDecl& target : train.targets) ok = declare(scope, target, Role::input, {}) && ok;
        graph_.outputs.clear();
        graph_.output_names.clear();
        const auto measure = [&](const Entry& entry, auto value_of) {
            const std::optional<std::vector<ValueId>> results = run_entry(scope, entry, {});
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

    // What only the loss or a metric reads is not there for nothing.
    bool spare_what_training_reads(const Scope& scope) {
        std::vector<Entry> entries = model_.train->metrics;
        entries.push_back(model_.train->loss);
        for (const Entry& entry : entries)
            for (const Name& operand : entry.operands)
                if (const std::optional<ValueId> value = scope.find(operand.text, graph_); value && *value != poisoned)
                    builder_.mark_used(*value);
        return true;
    }

    const YamlEntry* argument(const Entry& entry, std::string_view key) const {
        for (const YamlEntry& item : entry.arguments)
            if (item.key == key) return &item;
        return nullptr;
    }

    const ModuleDecl* called_module(const Entry& entry) const {
        if (entry.op.text != "repeat" && entry.op.text != "value_and_grad") return model_.find_module(entry.op.text);
        const YamlEntry* block = argument(entry, entry.op.text);
        const YamlScalar* name = block ? block->value.scalar() : nullptr;
        return name ? model_.find_module(name->text) : nullptr;
    }

    bool declare(Scope& scope, const TensorDecl& decl, Role role, const std::vector<std::string>& module_path) {
        Value value;
        value.name = builder_.unique_name(scope.full(decl.name.text), "#");
        if (value.name != scope.full(decl.name.text)) {
            diagnostics_.error("E0234", decl.name.span, fmt::format("'{}' is declared twice", decl.name.text))
                .help("inputs and parameters share their names");
            return false;
        }
        value.type = {decl.dtype, decl.shape, decl.logical};
        value.type.logical.resize(decl.shape.size());
        const std::optional<i64> count = checked_element_count(decl.shape);
        if (!count || !checked_multiply(*count, byte_size(decl.dtype))) {
            diagnostics_.error("E0227", decl.name.span,
                               fmt::format("'{}' has shape {}: its size in bytes does not fit 64 bits", decl.name.text,
                                           shape_text(decl.shape)));
            return false;
        }
        value.role = role;
        value.span = decl.name.span;
        value.decl = static_cast<int>(graph_.declared.size());
        graph_.declared.push_back(decl);
        graph_.declared.back().name.text = value.name;
        module_paths_.push_back(module_path);
        scope.bind(decl.name.text, builder_.add_input(std::move(value)));
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
        if (called_module(entry)) return run_call(scope, entry, module_path);
        const OpDef* op = find_op(entry.op.text);
        const CompositeDef* composite = find_composite(entry.op.text);
        if (!op && !composite) {
            report_unknown_op(entry);
            return std::nullopt;
        }
        return run_op(scope, entry, op, composite);
    }

    void report_unknown_op(const Entry& entry) {
        std::vector<std::string_view> names;
        for (const OpDef* def : all_ops()) names.push_back(def->name);
        for (const CompositeDef* def : all_composites()) names.push_back(def->name);
        for (const ModuleDecl& module : model_.modules) names.push_back(module.name.text);
        DiagnosticBuilder error =
            diagnostics_.error("E0203", entry.op.span, fmt::format("unknown op '{}'", entry.op.text));
        const std::string_view near = nearest(entry.op.text, names);
        error.help(near.empty() ? "`shardc list ops` shows all ops" : fmt::format("did you mean '{}'?", near));
    }

    BuiltValues run_op(Scope& scope, const Entry& entry, const OpDef* op, const CompositeDef* composite) {
        std::vector<std::string> paths;
        for (const Name& name : entry.results) paths.push_back(builder_.unique_name(scope.full(name.text), "#"));
        YamlMap arguments = entry.arguments;
        std::vector<Name> operand_names = entry.operands;
        if (op && !op->subject.empty()) take_subject(*op, entry, arguments, operand_names);
        Builder::Place place{scope.path(), paths[0], entry.op.span, {}, {}};
        for (const Name& name : operand_names) {
            place.operand_spans.push_back(name.span);
            place.operand_names.push_back(name.text);
        }
        builder_.set_place(std::move(place));
        const std::optional<std::vector<ValueId>> operands = resolve_operands(builder_, scope, operand_names);
        if (!operands) return std::nullopt;
        const OpDef::Arity arity = op ? op->operands : composite->operands;
        const int count = static_cast<int>(operands->size());
        if (count < arity.min || (arity.max >= 0 && count > arity.max))
            return builder_.emit_all(entry.op.text, *operands); // reports

        std::vector<TensorType> types;
        for (ValueId id : *operands) types.push_back(builder_.type(id));
        const ArgumentContext context{model_, entry.op.text, op ? op->attributes : composite->attributes,
                                      types,  entry.op.span, diagnostics_};
        const std::optional<ReadArguments> read = read_arguments(context, arguments);
        if (!read) return std::nullopt;
        const size_t values_before = graph_.values.size();
        BuiltValues results = builder_.emit_all(entry.op.text, *operands, read->attributes);
        if (!results) return std::nullopt;
        for (size_t n = 0; n < results->size() && n < paths.size(); ++n)
            name_result((*results)[n], values_before, paths[n], entry.results[n].span);
        if (op) keep_constraint(*op, *read, results->front());
        return results;
    }

    // {constant: 0.5, shape: [8]} and {einsum: "ij->ji", in: x}: the op's own value is an argument.
    static void take_subject(const OpDef& op, const Entry& entry, YamlMap& arguments, std::vector<Name>& operands) {
        for (YamlEntry& item : arguments)
            if (item.key == op.name) { // written with `in`
                item.key = std::string(op.subject);
                return;
            }
        if (operands.empty()) return;
        YamlList list;
        for (const Name& name : operands) list.push_back({name.span, YamlScalar{name.text, false}});
        Yaml value = list.size() == 1 ? list[0] : Yaml{operands[0].span, list};
        arguments.insert(arguments.begin(), {std::string(op.subject), entry.op.span, std::move(value)});
        operands.clear();
    }

    void name_result(ValueId result, size_t values_before, const std::string& path, Span span) {
        if (static_cast<size_t>(result) >= values_before)
            builder_.rename(result, path, span);
        else
            graph_.aliases.emplace_back(path, result);
        named_.push_back(result);
    }

    void keep_constraint(const OpDef& op, const ReadArguments& read, ValueId result) {
        const auto is_sharding = [](const AttributeDef& def) { return def.type == AttributeDef::Type::sharding; };
        if (std::none_of(op.attributes.begin(), op.attributes.end(), is_sharding)) return;
        Node& node = graph_.nodes[static_cast<size_t>(graph_.value(result).producer)];
        node.constraint_mesh = read.mesh;
        if (!read.mesh && read.attributes.has("axes")) node.constraint_logical = read.attributes.strings("axes");
    }

    // A module, once or repeated. Instances of one module in one scope are called block, block_2, ...; repetitions
    // block.0, block.1, ...
    std::optional<std::vector<ValueId>> run_call(Scope& scope, const Entry& entry,
                                                 const std::vector<std::string>& module_path) {
        const ModuleDecl& module = *called_module(entry);
        i64 times = 1;
        const bool repeated = entry.op.text == "repeat";
        std::string instance = module.name.text;
        if (repeated && !read_repeat(entry, times)) return std::nullopt;
        if (!repeated) {
            for (const YamlEntry& item : entry.arguments) {
                const std::optional<std::string> name =
                    item.key == "name" ? read_string(item.value, "name", diagnostics_) : std::nullopt;
                if (item.key != "name")
                    diagnostics_
                        .error("E0225", item.key_span,
                               fmt::format("module '{}' has no argument '{}'", module.name.text, item.key))
                        .help("a call takes operands, and `name` for the instance");
                if (!name) return std::nullopt;
                instance = *name;
            }
        }
        instance = unique_instance(scope.full(instance));
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
        std::vector<ValueId> carried = *operands;
        std::vector<ValueId> outputs;
        for (i64 n = 0; n < times; ++n) {
            std::vector<std::string> inner_path = module_path;
            // Flax names the modules of a loop Name_0, Name_1, ...
            inner_path.push_back(repeated ? fmt::format("{}_{}", own_name, n) : own_name);
            const std::string path = repeated ? fmt::format("{}.{}", instance, n) : instance;
            if (!check_calls(entry, inner_path.size())) return std::nullopt;
            const std::optional<std::vector<ValueId>> results = run_module(module, path, carried, inner_path);
            if (!results) return std::nullopt;
            outputs = *results;
            if (repeated && outputs.size() > carried.size()) {
                diagnostics_
                    .error("E0231", entry.op.span,
                           fmt::format("module '{}' cannot be repeated: it has {} outputs and {} inputs",
                                       module.name.text, outputs.size(), carried.size()))
                    .help("outputs go into the first inputs of the next repetition");
                return std::nullopt;
            }
            if (repeated) std::copy(outputs.begin(), outputs.end(), carried.begin());
        }
        for (size_t n = 0; n < entry.results.size() && n < outputs.size(); ++n) {
            graph_.aliases.emplace_back(builder_.unique_name(scope.full(entry.results[n].text), "#"), outputs[n]);
            named_.push_back(outputs[n]);
        }
        return outputs;
    }

    bool read_repeat(const Entry& entry, i64& times) {
        const YamlEntry* count = argument(entry, "times");
        const std::optional<i64> read = count ? read_int(count->value, "times", diagnostics_) : std::nullopt;
        if (!count) diagnostics_.error("E0225", entry.op.span, "'repeat' needs the argument 'times'");
        if (!read) return false;
        times = *read;
        if (times < 1) {
            diagnostics_.error("E0226", count->value.span, fmt::format("'times' must be at least 1, not {}", times));
            return false;
        }
        const YamlEntry* scan = argument(entry, "scan");
        const std::optional<bool> as_loop =
            scan ? read_bool(scan->value, "scan", diagnostics_) : std::optional<bool>(false);
        if (as_loop.value_or(false))
            diagnostics_.error("E0233", scan->key_span, "`scan: true` is not supported by this version")
                .help("without it the repeat is written out, which computes the same");
        return as_loop && !*as_loop;
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
        Scope scope(path, module.graph);
        for (size_t n = 0; n < operands.size(); ++n) scope.bind(module.inputs[n].text, operands[n]);
        bool ok = true;
        for (const TensorDecl& decl : module.params) ok = declare(scope, decl, Role::param, module_path) && ok;
        ok = run(scope, module.graph, module_path) && ok;
        std::vector<ValueId> outputs;
        for (const Name& output : module.outputs) {
            const std::optional<ValueId> value = scope.find(output.text, graph_);
            if (!value) scope.report_unknown(output, diagnostics_);
            ok = ok && value && *value != poisoned;
            outputs.push_back(value.value_or(poisoned));
        }
        if (!ok) return std::nullopt;
        return outputs;
    }

    // Results, inputs and parameters that nobody reads; of a module's, the first instance speaks for all.
    void warn_unused() {
        std::vector<Span> reported;
        const auto warn = [&](ValueId id, std::string_view what) {
            const Value& value = graph_.value(id);
            if (builder_.is_used(id) || std::find(reported.begin(), reported.end(), value.span) != reported.end())
                return;
            reported.push_back(value.span);
            diagnostics_.warning("W0201", value.span, fmt::format("{} '{}' is not used", what, value.name))
                .help("remove it, or name it in `outputs`");
        };
        for (ValueId id : graph_.inputs) warn(id, name(graph_.value(id).role));
        for (ValueId id : named_) warn(id, "value");
    }

    const Model& model_;
    Diagnostics& diagnostics_;
    Graph graph_;
    Builder builder_;
    std::vector<std::vector<std::string>> module_paths_; // by declared tensor
    std::set<std::string> instances_;                    // paths taken
    i64 calls_ = 0;                                      // of modules, every repetition counted
    std::vector<ValueId> named_;                         // results that the user named, in order
};

} // namespace

std::optional<Graph> build_graph(const Model& model, Diagnostics& diagnostics) {
    return ModelBuilder(model, diagnostics).build(false);
}

std::optional<Graph> build_train_graph(const Model& model, Diagnostics& diagnostics) {
    return ModelBuilder(model, diagnostics).build(true);
}

} // namespace shard
