// A module several times, each of whose outputs go into the first inputs of the next one: written out, as block.0,
// block.1, ..., or as a loop over parameters that are stacked.
//
//     - h: {repeat: block, times: 4, in: x, scan: true, axis: layers}
//
// It may go over values: each repetition takes an entry along dim 0 of what `over` names. Of a loop, what `stack` names
// of its outputs is put together along a dim in front.
//
//     - h, ys: {repeat: cell, in: [h0, w], over: xs, stack: y, scan: true}     cell: inputs [h, w, x], outputs [h, y]
#include "planner/build/build_calls.h"
#include "planner/build/build_training.h"
#include "planner/build/model_builder.h"
#include "planner/graph/chain.h"
#include "planner/model/axis_arithmetic.h"
#include "planner/model/names.h"
#include "planner/text/yaml_values.h"
#include "plans/diagnostics/suggestion.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

// --- read ---

bool read(const FormUse& use) {
    bool good = check_form_keys(use, {use.key.key, "times", "in", "over", "stack", "axis", "scan", "reverse", "name"},
                                "a repeat");
    if (use.yaml.find("over") == nullptr)
        good = check_required(use, {"times", "in"}, "a repeat", "write {repeat: block, times: 4, in: x}") && good;
    if (const Yaml* times = use.yaml.find("times"))
        good = read_size(*times, "times", use.context.axes, use.diagnostics) && good;
    const std::optional<bool> known = check_module(use);
    if (!known) return false;
    good = good && *known;
    if (const Yaml* axis = use.yaml.find("axis")) good = read_name(*axis, "an axis", use.diagnostics) && good;
    if (const Yaml* name = use.yaml.find("name")) good = read_name(*name, "an instance", use.diagnostics) && good;
    for (const char* names : {"over", "stack"})
        if (const Yaml* value = use.yaml.find(names))
            good = read_value_names(*value, names, use.diagnostics).has_value() && good;
    for (const char* flag : {"scan", "reverse"})
        if (const Yaml* value = use.yaml.find(flag)) good = read_bool(*value, flag, use.diagnostics) && good;
    return good;
}

// --- build ---

struct Repeat {
    i64 times = 1;
    bool scan = false; // a loop
    bool reverse = false;
    std::string axis; // along which the loop's parameters are stacked
    std::vector<Name> over, stack;
};

// E0226: what only a loop has.
bool check_loop(const Entry& entry, const Repeat& repeat, Diagnostics& diagnostics) {
    for (const std::string_view name : {"reverse", "stack"}) {
        const YamlEntry* written = argument(entry, name);
        if (written == nullptr || repeat.scan || (name == "reverse" && !repeat.reverse)) continue;
        diagnostics
            .error("E0226", written->key_span, fmt::format("'{}' is of a loop, and this repeat is written out", name))
            .help("add `scan: true`");
        return false;
    }
    return true;
}

// As many entries as what it goes over.
std::optional<i64> trips_of(Builder& builder, const Scope& scope, const Name& over, Diagnostics& diagnostics) {
    const std::optional<ValueId> value = scope.find(over.text, builder.graph());
    if (!value) return scope.report_unknown(over, builder.graph(), diagnostics), std::nullopt;
    if (*value == poisoned) return std::nullopt;
    const TensorType& type = builder.type(*value);
    if (type.rank() > 0 && type.shape[0] > 0) return type.shape[0];
    diagnostics
        .error("E0226", over.span,
               fmt::format("a repeat goes over a value's dim 0, and '{}' is {}", over.text, type_words(type)))
        .help("`over` names what has an entry for each repetition; what all of them read stands in `in`");
    return std::nullopt;
}

// `read` has seen that the arguments are there, and of their types.
std::optional<Repeat> repeat_of(ModelBuilder& builder, const Scope& scope, const Entry& entry) {
    const Model& model = builder.sizes();
    Diagnostics& diagnostics = builder.diagnostics();
    const YamlEntry *times = argument(entry, "times"), *axis = argument(entry, "axis");
    const auto flag = [&](std::string_view name) {
        const YamlEntry* written = argument(entry, name);
        return written && read_bool(written->value, name, diagnostics).value_or(false);
    };
    const auto names = [&](std::string_view name) {
        const YamlEntry* written = argument(entry, name);
        return written == nullptr ? std::vector<Name>()
                                  : read_value_names(written->value, name, diagnostics).value_or(std::vector<Name>());
    };
    Repeat repeat;
    repeat.scan = flag("scan");
    repeat.reverse = flag("reverse");
    repeat.over = names("over");
    repeat.stack = names("stack");
    if (!check_loop(entry, repeat, diagnostics)) return std::nullopt;
    std::optional<i64> count;
    if (times != nullptr) count = read_size(times->value, "times", model.axes, diagnostics);
    for (const Name& over : repeat.over) {
        const std::optional<i64> trips = trips_of(builder.builder(), scope, over, diagnostics);
        if (!trips) return std::nullopt;
        if (count && *count != *trips) {
            diagnostics
                .error(
                    "E0226", over.span,
                    fmt::format("'{}' has {} entries, but the block is repeated {} times", over.text, *trips, *count))
                .label(times != nullptr ? times->value.span : repeat.over.front().span, "as many as here")
                .help("there are as many repetitions as entries: `times` may be left away");
            return std::nullopt;
        }
        count = trips;
    }
    if (!count) {
        if (times == nullptr) // `over: []`
            diagnostics.error("E0116", entry.op.span, "a repeat that goes over nothing needs 'times'")
                .help("write {repeat: block, times: 4, in: x}");
        return std::nullopt;
    }
    repeat.times = *count;
    if (model.most_layers && !repeat.scan) repeat.times = std::min(repeat.times, *model.most_layers);
    if (axis) repeat.axis = read_string(axis->value, "axis", diagnostics).value_or("");
    const AxisDecl* declared = model.find_axis(repeat.axis);
    if (axis && repeat.scan && declared != nullptr && declared->size != repeat.times) {
        diagnostics
            .error("E0226", axis->value.span,
                   fmt::format("the axis '{}' has {} entries, but the block is repeated {} times", repeat.axis,
                               declared->size, repeat.times))
            .label(declared->name.span, "declared here");
        return std::nullopt;
    }
    return repeat;
}

// Entry n along dim 0, without the dim.
ValueId entry_along(Builder& builder, ValueId whole, i64 n) {
    Chain chain(builder);
    TensorType type = chain.type(whole);
    type.shape.erase(type.shape.begin());
    type.logical.erase(type.logical.begin());
    const ValueId part =
        chain("slice", {whole},
              attributes_of(
                  {{"dim", std::vector<i64>{0}}, {"start", std::vector<i64>{n}}, {"limit", std::vector<i64>{n + 1}}}));
    return chain("reshape", {part}, shape_of(type.shape, type.logical));
}

// Written out. Flax names the modules of a loop Name_0, Name_1, ...
BuiltValues run_in_a_row(ModelBuilder& model, const ModuleCall& call, const Repeat& repeat) {
    ModuleCall one = call;
    BuiltValues outputs;
    const size_t first_over = call.operands.size() - repeat.over.size();
    for (i64 n = 0; n < repeat.times; ++n) {
        for (size_t k = first_over; k < call.operands.size(); ++k) {
            Builder::Place place = model.builder().place();
            place.prefix = fmt::format("{}.{}.{}", call.instance, n, call.module.inputs[k].text);
            place.span = call.entry.op.span;
            model.builder().set_place(std::move(place));
            one.operands[k] = entry_along(model.builder(), call.operands[k], n);
        }
        one.instance = fmt::format("{}.{}", call.instance, n);
        one.path.back() = fmt::format("{}_{}", call.path.back(), n);
        outputs = model.run_once(one);
        if (!outputs) return std::nullopt;
        std::copy(outputs->begin(), outputs->end(), one.operands.begin());
    }
    return outputs;
}

// By output of the module, whether it is stacked; nullopt after E0226.
std::optional<std::vector<bool>> stacked_outputs(const ModuleDecl& module, const Repeat& repeat,
                                                 Diagnostics& diagnostics) {
    std::vector<bool> stacked(module.outputs.size());
    for (const Name& name : repeat.stack) {
        // Of an output that is there twice, as of `return h, h`, the first is carried.
        size_t n = module.outputs.size();
        while (n > 0 && (stacked[n - 1] || module.outputs[n - 1].text != name.text)) --n;
        if (n == 0) {
            std::vector<std::string_view> outputs;
            for (const Name& output : module.outputs)
                if (std::find(outputs.begin(), outputs.end(), output.text) == outputs.end())
                    outputs.push_back(output.text);
            const bool again = std::find(outputs.begin(), outputs.end(), name.text) != outputs.end();
            diagnostics
                .error("E0226", name.span,
                       again ? fmt::format("'{}' is stacked more often than '{}' hands it out", name.text,
                                           module.name.text)
                             : fmt::format("'{}' is no output of '{}'", name.text, module.name.text))
                .label(module.name.span, "declared here")
                .help(again
                          ? std::string("list it as often as it is an output")
                          : did_you_mean(name.text, outputs, fmt::format("its outputs: {}", fmt::join(outputs, ", "))));
            return std::nullopt;
        }
        stacked[n - 1] = true;
    }
    return stacked;
}

BuiltValues run(ModelBuilder& model, const ModuleCall& call, const Repeat& repeat) {
    const ModuleDecl& module = call.module;
    const std::optional<std::vector<bool>> stacked = stacked_outputs(module, repeat, model.diagnostics());
    if (!stacked) return std::nullopt;
    const ScanOptions options{repeat.times, repeat.reverse, repeat.axis, repeat.over.size(), *stacked};
    if (options.carried() + options.over > module.inputs.size()) {
        model.diagnostics()
            .error("E0231", call.entry.op.span,
                   fmt::format("module '{}' cannot be repeated: it has {} outputs and {} inputs{}", module.name.text,
                               module.outputs.size(), module.inputs.size(),
                               repeat.over.empty() ? "" : fmt::format(", {} of them per trip", repeat.over.size())))
            .help("outputs go into the first inputs of the next repetition; a loop may `stack` them instead");
        return std::nullopt;
    }
    if (!repeat.scan) return run_in_a_row(model, call, repeat);
    const BuiltValues outputs = model.run_scanned(call, options);
    if (outputs && outputs->size() > 1) // they are carried, if nothing else
        for (size_t n = 0; n < call.entry.results.size() && n < outputs->size(); ++n)
            model.builder().mark_used((*outputs)[n]);
    return outputs;
}

BuiltValues build(ModelBuilder& model, Scope& scope, const Entry& entry, const ModulePath& around) {
    const ModuleDecl* module = called_module(model.model(), entry);
    internal_check(module != nullptr, "a repeat of no module");
    if (!model.may_call(*module, entry)) return std::nullopt;
    const std::optional<Repeat> repeat = repeat_of(model, scope, entry);
    if (!repeat) return std::nullopt;
    Entry written = entry;
    written.operands.insert(written.operands.end(), repeat->over.begin(), repeat->over.end());
    std::string instance = module->written_name();
    if (const YamlEntry* name = argument(entry, "name"))
        instance = read_string(name->value, "name", model.diagnostics()).value_or(instance);
    return model.call_as(scope, written, *module, instance, around,
                         [&](const ModuleCall& call) { return run(model, call, *repeat); });
}

} // namespace

const FormDef& form_repeat() {
    static const FormDef def = {"repeat", FormDef::Value::module, read, build};
    return def;
}

} // namespace shard
