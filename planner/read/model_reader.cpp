// The top level of a model file. The parts have their own files: axis_arithmetic, tensor_reader, entry_reader,
// sharding_spec_reader.
#include "planner/read/model_reader.h"

#include "planner/model/axis_arithmetic.h"
#include "planner/model/names.h"
#include "planner/read/arguments.h"
#include "planner/read/checkpoint_names.h"
#include "planner/read/entry_reader.h"
#include "planner/read/gradient_reader.h"
#include "planner/read/include.h"
#include "planner/read/tensor_reader.h"
#include "planner/read/train_reader.h"
#include "planner/text/yaml_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

namespace shard {

namespace {

class ModelReader {
public:
    // `yaml` has its arguments put in, but for the modules; `included` are those of other files.
    ModelReader(const Sources& sources, const Yaml& yaml, std::span<const YamlEntry> included, ArgumentWriter& writer,
                const YamlMap& arguments, Diagnostics& diagnostics)
        : sources_(&sources), yaml_(&yaml), included_(included), writer_(&writer), arguments_(&arguments),
          diagnostics_(&diagnostics) {}

    Model read() {
        if (const Yaml* name = require("model"))
            if (std::optional<Name> text = read_name(*name, "a model", *diagnostics_)) model_.name = *text;
        if (const Yaml* axes = yaml_->find("axes")) {
            model_.axes = read_axes(*axes, *diagnostics_);
            model_.axes_yaml = *axes;
        }
        if (const Yaml* rng = yaml_->find("rng")) read_rng(*rng);
        if (const Yaml* precision = yaml_->find("precision")) read_precision(*precision);
        if (const Yaml* inputs = yaml_->find("inputs"))
            read_tensors(*inputs, TensorRole::input, context(), model_.inputs, *diagnostics_);
        if (const Yaml* params = yaml_->find("params"))
            read_tensors(*params, TensorRole::param, context(), model_.params, *diagnostics_);
        check_apart(names_of(model_.params), {&model_.inputs});
        if (const Yaml* variables = yaml_->find("variables"))
            read_tensors(*variables, TensorRole::variable, context(), model_.variables, *diagnostics_);
        check_apart(names_of(model_.variables), {&model_.inputs, &model_.params});
        read_modules();
        if (const Yaml* graph = require("graph")) read_graph(*graph, context(), model_.graph, *diagnostics_);
        if (const Yaml* updates = yaml_->find("updates")) read_updates(*updates, model_.updates);
        if (const Yaml* outputs = require("outputs")) model_.outputs = read_outputs(*outputs, !model_.updates.empty());
        if (const Yaml* train = yaml_->find("train")) {
            model_.train = read_train(*train, context(), *diagnostics_);
            if (model_.train)
                check_apart(names_of(model_.train->targets), {&model_.inputs, &model_.params, &model_.variables});
        }
        read_called();
        return std::move(model_);
    }

private:
    EntryContext context() { return {model_.axes, model_.heads, &calls_, sources_}; }

    const Yaml* require(std::string_view key) {
        const Yaml* value = yaml_->find(key);
        if (value == nullptr) {
            DiagnosticBuilder error =
                diagnostics_->error("E0116", {yaml_->span.file, 1, 1, 1}, fmt::format("the model has no '{}'", key));
            if (key == "outputs") error.help("say which values the model gives: outputs: [logits]");
        }
        return value;
    }

    void read_rng(const Yaml& rng) {
        if (!check_keys(rng, {"seed", "impl", "partitionable", "keys", "compat"}, "rng", *diagnostics_)) return;
        if (const Yaml* seed = rng.find("seed")) model_.seed = read_int(*seed, "rng.seed", *diagnostics_).value_or(0);
        if (const Yaml* partitionable = rng.find("partitionable"))
            model_.partitionable = read_bool(*partitionable, "rng.partitionable", *diagnostics_).value_or(true);
        if (const Yaml* impl = rng.find("impl")) read_choice(*impl, "rng.impl", {"threefry2x32"});
        if (const Yaml* compat = rng.find("compat")) {
            model_.xla_compat = read_choice(*compat, "rng.compat", {"xla_concatenate_2024"}).has_value();
            if (model_.xla_compat && model_.partitionable)
                diagnostics_
                    ->error("E0219", compat->span,
                            "rng.compat: xla_concatenate_2024 concerns the bits of partitionable: false")
                    .help("write partitionable: false beside it, or remove it");
        }
        if (const Yaml* keys = rng.find("keys"))
            if (const std::optional<std::string> text = read_choice(*keys, "rng.keys", {"nnx", "linen", "explicit"}))
                model_.keys = *key_scheme_from_name(*text);
    }

    // Parameters of 16 bits are computed with as they are, unless the file says otherwise.
    void read_precision(const Yaml& precision) {
        if (!check_keys(precision, {"compute", "params"}, "precision", *diagnostics_)) return;
        const auto read = [&](std::string_view key, DType fallback) {
            const Yaml* type = precision.find(key);
            if (type == nullptr) return fallback;
            const std::optional<std::string> text = read_string(*type, fmt::format("precision.{}", key), *diagnostics_);
            if (!text) return fallback;
            std::vector<std::string_view> choices;
            for (DType dtype : all_dtypes()) {
                if (computed_as(dtype) != DType::f32 || byte_size(dtype) < 2) continue; // 8 bits need scales
                if (name(dtype) == *text) return dtype;
                choices.push_back(name(dtype));
            }
            DiagnosticBuilder error =
                diagnostics_->error("E0118", type->span, fmt::format("precision.{}: unknown choice '{}'", key, *text));
            if (parse_dtype(*text))
                error.help(fmt::format("choices: {}", fmt::join(choices, ", ")));
            else
                suggest_dtype(error, *text);
            return fallback;
        };
        model_.precision.params = read("params", DType::f32);
        model_.precision.compute = read("compute", model_.precision.params);
    }

    std::optional<std::string> read_choice(const Yaml& yaml, std::string_view what,
                                           const std::vector<std::string_view>& choices) {
        const std::optional<std::string> text = read_string(yaml, what, *diagnostics_);
        if (!text || std::find(choices.begin(), choices.end(), *text) != choices.end()) return text;
        DiagnosticBuilder error =
            diagnostics_->error("E0118", yaml.span, fmt::format("{}: unknown choice '{}'", what, *text));
        error.help(fmt::format("choices: {}", fmt::join(choices, ", ")));
        suggest(error, *text, choices);
        return std::nullopt;
    }

    static std::vector<Name> names_of(const std::vector<TensorDecl>& tensors) {
        std::vector<Name> names;
        for (const TensorDecl& tensor : tensors) names.push_back(tensor.array.name);
        return names;
    }

    void check_apart(const std::vector<Name>& names, std::initializer_list<const std::vector<TensorDecl>*> others) {
        std::map<std::string_view, Span> declared;
        for (const std::vector<TensorDecl>* list : others)
            for (const TensorDecl& other : *list) declared.emplace(other.array.name.text, other.array.name.span);
        for (const Name& name : names)
            if (const auto first = declared.find(name.text); first != declared.end())
                diagnostics_->error("E0214", name.span, fmt::format("'{}' is declared twice", name.text))
                    .label(first->second, "first declared here");
    }

    void read_modules() {
        if (const Yaml* yaml = yaml_->find("modules")) {
            if (const YamlMap* map = yaml->map())
                for (const YamlEntry& entry : *map) modules_.push_back(&entry);
            else
                diagnostics_->error("E0113", yaml->span,
                                    fmt::format("modules: expected a map, found {}", yaml->kind()));
        }
        const size_t own = modules_.size();
        for (const YamlEntry& entry : included_) modules_.push_back(&entry);
        for (const YamlEntry* entry : modules_) {
            const ModuleHead* first = context().find_module(entry->key);
            if (first != nullptr)
                diagnostics_->error("E0214", entry->key_span, fmt::format("'{}' is declared twice", entry->key))
                    .label(first->name.span, "first declared here")
                    .help("give one of them another name, or leave its file out");
            std::optional<YamlMap> args = YamlMap{};
            if (const Yaml* written = entry->value.find("args")) args = read_args(*written, *diagnostics_);
            model_.heads.add({{entry->key, entry->key_span}, args.value_or(YamlMap{})});
        }
        for (size_t m = 0; m < modules_.size(); ++m) {
            const YamlEntry& entry = *modules_[m];
            if (!check_name(entry.key, entry.key_span, "a module", *diagnostics_)) continue;
            if (is_op_name(entry.key)) {
                diagnostics_
                    ->error("E0216", entry.key_span, fmt::format("the module '{}' has the name of an op", entry.key))
                    .help("give it another name");
                continue;
            }
            if (m < own && context().find_module(entry.key)->args.empty())
                read_module(entry, {entry.key, {}, entry.key_span});
        }
    }

    // Modules with arguments are read for their calls, which may call others; those of other files only if they are
    // called.
    void read_called() {
        std::set<std::string> read;
        for (const ModuleDecl& module : model_.modules) read.insert(module.name.text);
        std::map<std::string_view, const YamlEntry*> written_as;
        for (const YamlEntry* entry : modules_) written_as.emplace(entry->key, entry);
        for (size_t n = 0; n < calls_.size(); ++n) {
            const BoundModule call = calls_[n];
            const std::string name = call.name.substr(0, call.name.find('('));
            const YamlEntry& written = *written_as.at(name);
            if (!read.insert(call.name).second || faulty_.contains(name)) continue;
            if (read.size() > most_modules) {
                diagnostics_
                    ->error("E0227", written.key_span,
                            fmt::format("the model calls more than {} modules with other arguments", most_modules))
                    .help("look for a module that calls itself with other arguments each time");
                return;
            }
            read_module(written, call);
        }
    }

    void read_module(const YamlEntry& entry, const BoundModule& call) {
        if (!is_boxed(sources_->name(entry.key_span.file))) return read_called_module(entry, call);
        // What is in the box is right: what it misses is said where it is called, each once.
        Diagnostics* const all = diagnostics_;
        Diagnostics found;
        diagnostics_ = &found;
        read_called_module(entry, call);
        diagnostics_ = all;
        std::set<std::string> said;
        for (Diagnostic diagnostic : found.all()) {
            if (!said.insert(diagnostic.message).second) continue;
            diagnostic.labels.insert(diagnostic.labels.begin(), {call.span, ""});
            diagnostics_->add(diagnostic);
        }
    }

    void read_called_module(const YamlEntry& entry, const BoundModule& call) {
        const int before = diagnostics_->error_count();
        if (check_keys(entry.value,
                       {"args", "params", "variables", "inputs", "graph", "outputs", "updates", "remat", "gradient"},
                       fmt::format("module '{}'", entry.key), *diagnostics_)) {
            const std::optional<YamlMap> values =
                writer_->values(context().find_module(entry.key)->args, call.given, *arguments_);
            const std::optional<Yaml> yaml = values ? writer_->write(entry.value, *values) : std::nullopt;
            if (yaml) read_module(*yaml, {call.name, entry.key_span});
        }
        if (diagnostics_->error_count() > before) faulty_.insert(entry.key); // said once, not of every call
    }

    void read_module(const Yaml& yaml, const Name& name) {
        const std::string what = fmt::format("module '{}'", name.text);
        ModuleDecl module;
        module.name = name;
        if (const Yaml* remat = yaml.find("remat")) read_remat(*remat, module);
        for (std::string_view key : {"inputs", "graph", "outputs"})
            if (yaml.find(key) == nullptr)
                diagnostics_->error("E0116", name.span, fmt::format("{} has no '{}'", what, key));
        if (const Yaml* params = yaml.find("params"))
            read_tensors(*params, TensorRole::param, context(), module.params, *diagnostics_);
        if (const Yaml* variables = yaml.find("variables"))
            read_tensors(*variables, TensorRole::variable, context(), module.variables, *diagnostics_);
        check_apart(names_of(module.variables), {&module.params});
        if (const Yaml* inputs = yaml.find("inputs")) module.inputs = read_formals(*inputs, module);
        if (const Yaml* graph = yaml.find("graph")) read_graph(*graph, context(), module.graph, *diagnostics_);
        if (const Yaml* outputs = yaml.find("outputs"))
            module.outputs = read_outputs(*outputs, false, yaml.find("gradient") == nullptr);
        if (const Yaml* updates = yaml.find("updates")) read_updates(*updates, module.updates);
        if (const Yaml* gradient = yaml.find("gradient"))
            module.gradient = read_gradient(*gradient, module, context(), *diagnostics_);
        model_.modules.add(std::move(module));
    }

    // `full`, or `{save: [q, k, v], offload: x}`.
    void read_remat(const Yaml& yaml, ModuleDecl& module) {
        if (yaml.map() == nullptr) {
            const std::optional<std::string> text = read_choice(yaml, "remat", {"none", "full", "dots"});
            if (text && *text != "none") module.remat = *text == "full" ? Remat::full : Remat::dots;
            return;
        }
        if (!check_keys(yaml, {"save", "offload"}, "remat", *diagnostics_)) return;
        module.remat = Remat::names;
        for (const YamlEntry& entry : *yaml.map()) {
            const Kept kept = entry.key == "save" ? Kept::on_device : Kept::on_host;
            const std::string what = fmt::format("remat.{}", entry.key);
            const auto read_glob = [&](const Yaml& glob) {
                const std::optional<std::string> text = read_string(glob, what, *diagnostics_);
                if (text) module.kept.push_back({{*text, glob.span}, kept});
            };
            if (entry.value.list() == nullptr)
                read_glob(entry.value);
            else
                for (const Yaml& glob : *entry.value.list()) read_glob(glob);
        }
    }

    // The types of a module's inputs come from its calls, so only names are written.
    std::vector<Name> read_formals(const Yaml& yaml, const ModuleDecl& module) {
        std::vector<Name> names;
        if (yaml.list() == nullptr) {
            diagnostics_
                ->error("E0113", yaml.span,
                        fmt::format("inputs of a module: expected a list of names, found {}", yaml.kind()))
                .help("write inputs: [x]; types come from the call");
            return names;
        }
        for (const Yaml& item : *yaml.list()) {
            const std::optional<Name> name = read_name(item, "an input", *diagnostics_);
            if (!name) continue;
            names.push_back(*name);
        }
        check_apart(names, {&module.params, &module.variables});
        check_repeated(names);
        return names;
    }

    void check_repeated(const std::vector<Name>& names) {
        std::map<std::string_view, Span> listed;
        for (const Name& name : names)
            if (const auto [first, is_new] = listed.emplace(name.text, name.span); !is_new)
                diagnostics_->error("E0214", name.span, fmt::format("'{}' is listed twice", name.text))
                    .label(first->second, "first listed here");
    }

    void read_updates(const Yaml& yaml, std::vector<UpdateDecl>& updates) {
        if (yaml.map() == nullptr) {
            diagnostics_->error("E0113", yaml.span, fmt::format("updates: expected a map, found {}", yaml.kind()))
                .help("write updates: {cache: new_cache}, the input and its value after a step");
            return;
        }
        for (const YamlEntry& entry : *yaml.map()) {
            const std::optional<std::vector<Name>> value =
                entry.value.list() == nullptr ? read_value_names(entry.value, "an update", *diagnostics_)
                                              : std::nullopt;
            if (value)
                updates.push_back({{entry.key, entry.key_span}, value->front()});
            else if (entry.value.list() != nullptr)
                diagnostics_->error("E0113", entry.value.span, "an update: expected a name, found a list");
        }
    }

    // A module may hand out a value twice: a loop carries one and stacks the other.
    std::vector<Name> read_outputs(const Yaml& yaml, bool may_be_none = false, bool may_repeat = false) {
        std::optional<std::vector<Name>> names = read_value_names(yaml, "outputs", *diagnostics_);
        if (!names) return {};
        if (names->empty() && !may_be_none)
            diagnostics_->error("E0116", yaml.span, "there is no output").help("write outputs: [name]");
        if (!may_repeat) check_repeated(*names);
        return *names;
    }

    static constexpr size_t most_modules = 500;

    const Sources* sources_;
    const Yaml* yaml_;
    std::span<const YamlEntry> included_;
    ArgumentWriter* writer_;
    const YamlMap* arguments_; // of the model
    Diagnostics* diagnostics_;
    Model model_;
    std::vector<const YamlEntry*> modules_; // the model's own, then those of other files
    std::vector<BoundModule> calls_;
    std::set<std::string> faulty_; // modules with errors
};

// The model with its arguments put in, but for the modules, which have their own besides. nullopt after reporting.
std::optional<Yaml> with_arguments(const Yaml& yaml, const YamlMap& arguments, ArgumentWriter& writer) {
    YamlMap now, later;
    for (const YamlEntry& entry : *yaml.map())
        (entry.key == "args" || entry.key == "modules" ? later : now).push_back(entry);
    std::optional<Yaml> made = writer.write({yaml.span, std::move(now)}, arguments);
    if (!made) return std::nullopt;
    YamlMap& all = std::get<YamlMap>(made->value);
    all.insert(all.end(), later.begin(), later.end());
    return made;
}

std::optional<YamlMap> read_model_args(const Yaml& yaml, ArgumentWriter& writer, Diagnostics& diagnostics) {
    const Yaml* args = yaml.find("args");
    if (args == nullptr) return YamlMap{};
    const std::optional<YamlMap> declared = read_args(*args, diagnostics);
    std::optional<YamlMap> values = declared ? writer.values(*declared, {}, {}) : std::nullopt;
    if (!values) return std::nullopt;
    bool good = true;
    for (const YamlEntry& value : *values) {
        if (!value.value.is_null()) continue;
        diagnostics.error("E0225", value.key_span, fmt::format("the model needs the argument '{}'", value.key))
            .help(fmt::format("write its value here, or give it: --set {}=VALUE", value.key));
        good = false;
    }
    return good ? values : std::nullopt;
}

} // namespace

const AxisDecl* Model::find_axis(std::string_view text) const {
    for (const AxisDecl& axis : axes)
        if (axis.name.text == text) return &axis;
    return nullptr;
}

std::optional<Model> read_model(const Sources& sources, int file, Diagnostics& diagnostics) {
    return read_model(sources, file, diagnostics, false);
}

std::optional<Model> read_model(const Sources& sources, int file, Diagnostics& diagnostics, bool training) {
    const YamlDocument yaml = parse_yaml(sources, file, diagnostics);
    if (!yaml) return std::nullopt;
    const int before = diagnostics.error_count();
    if (!check_keys(*yaml,
                    {"model", "args", "include", "checkpoint_names", "axes", "sizes", "rng", "precision", "inputs",
                     "params", "variables", "modules", "graph", "outputs", "updates", "train"},
                    "a model", diagnostics))
        return std::nullopt;
    ArgumentWriter writer(training, diagnostics);
    const std::optional<YamlMap> values = read_model_args(*yaml, writer, diagnostics);
    const std::optional<Yaml> written = values ? with_arguments(*yaml, *values, writer) : std::nullopt;
    if (!written) return std::nullopt;
    check_checkpoint_names(*yaml, sources, diagnostics);
    if (const Yaml* const sizes = yaml->find("sizes"))
        if (const std::optional<std::string> text = read_string(*sizes, "sizes", diagnostics); text && *text != "fixed")
            diagnostics.error("E0118", sizes->span, fmt::format("sizes: unknown choice '{}'", *text))
                .help("sizes: fixed says that --set changes none; leave it out for others");
    const std::vector<YamlEntry> included = read_included(*yaml, sources, diagnostics);
    if (diagnostics.error_count() > before) return std::nullopt; // its modules would be unknown
    Model model = ModelReader(sources, *written, included, writer, *values, diagnostics).read();
    if (diagnostics.error_count() > before) return std::nullopt;
    return model;
}

} // namespace shard
