// A module several times, each of whose outputs go into the first inputs of the next one: written out, as block.0,
// block.1, ..., or as a loop over parameters that are stacked.
//
//     - h: {repeat: block, times: 4, in: x, scan: true, axis: layers}
#include "planner/build/build_calls.h"
#include "planner/build/model_builder.h"
#include "planner/model/axis_arithmetic.h"
#include "planner/model/names.h"
#include "planner/text/yaml_values.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

namespace {

// --- read ---

bool read(const FormUse& use) {
    bool good = check_form_keys(use, {use.key.key, "times", "in", "axis", "scan", "reverse", "name"}, "a repeat");
    good = check_required(use, {"times", "in"}, "a repeat", "write {repeat: block, times: 4, in: x}") && good;
    if (const Yaml* times = use.yaml.find("times"))
        good = read_size(*times, "times", use.context.axes, use.diagnostics) && good;
    const std::optional<bool> known = check_module(use);
    if (!known) return false;
    good = good && *known;
    for (const char* named : {"axis", "name"})
        if (const Yaml* value = use.yaml.find(named)) good = read_name(*value, named, use.diagnostics) && good;
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
};

// `read` has seen that the arguments are there, and of their types.
std::optional<Repeat> repeat_of(const Model& model, const Entry& entry, Diagnostics& diagnostics) {
    const YamlEntry *times = argument(entry, "times"), *axis = argument(entry, "axis"),
                    *reverse = argument(entry, "reverse");
    const auto flag = [&](std::string_view name) {
        const YamlEntry* written = argument(entry, name);
        return written && read_bool(written->value, name, diagnostics).value_or(false);
    };
    internal_check(times != nullptr, "a repeat without times");
    Repeat repeat;
    const std::optional<i64> count = read_size(times->value, "times", model.axes, diagnostics);
    if (!count) return std::nullopt;
    repeat.times = *count;
    repeat.scan = flag("scan");
    if (model.most_layers && !repeat.scan) repeat.times = std::min(repeat.times, *model.most_layers);
    repeat.reverse = flag("reverse");
    if (repeat.reverse && !repeat.scan) {
        diagnostics.error("E0226", reverse->key_span, "'reverse' is of a loop, and this repeat is written out")
            .help("add `scan: true`");
        return std::nullopt;
    }
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

// Written out. Flax names the modules of a loop Name_0, Name_1, ...
BuiltValues run_in_a_row(ModelBuilder& model, const ModuleCall& call, i64 times) {
    ModuleCall one = call;
    BuiltValues outputs;
    for (i64 n = 0; n < times; ++n) {
        one.instance = fmt::format("{}.{}", call.instance, n);
        one.path.back() = fmt::format("{}_{}", call.path.back(), n);
        outputs = model.run_once(one);
        if (!outputs) return std::nullopt;
        std::copy(outputs->begin(), outputs->end(), one.operands.begin());
    }
    return outputs;
}

BuiltValues run(ModelBuilder& model, const ModuleCall& call, const Repeat& repeat) {
    const ModuleDecl& module = call.module;
    if (module.outputs.size() > module.inputs.size()) {
        model.diagnostics()
            .error("E0231", call.entry.op.span,
                   fmt::format("module '{}' cannot be repeated: it has {} outputs and {} inputs", module.name.text,
                               module.outputs.size(), module.inputs.size()))
            .help("outputs go into the first inputs of the next repetition");
        return std::nullopt;
    }
    if (!repeat.scan) return run_in_a_row(model, call, repeat.times);
    const BuiltValues outputs = model.run_scanned(call, {repeat.times, repeat.reverse, repeat.axis});
    if (outputs && outputs->size() > 1) // they are carried, if nothing else
        for (size_t n = 0; n < call.entry.results.size() && n < outputs->size(); ++n)
            model.builder().mark_used((*outputs)[n]);
    return outputs;
}

BuiltValues build(ModelBuilder& model, Scope& scope, const Entry& entry, const ModulePath& around) {
    const ModuleDecl* module = called_module(model.model(), entry);
    internal_check(module != nullptr, "a repeat of no module");
    if (!model.may_call(*module, entry)) return std::nullopt;
    const std::optional<Repeat> repeat = repeat_of(model.sizes(), entry, model.diagnostics());
    if (!repeat) return std::nullopt;
    std::string instance = module->written_name();
    if (const YamlEntry* name = argument(entry, "name"))
        instance = read_string(name->value, "name", model.diagnostics()).value_or(instance);
    return model.call_as(scope, entry, *module, instance, around,
                         [&](const ModuleCall& call) { return run(model, call, *repeat); });
}

} // namespace

const FormDef& form_repeat() {
    static const FormDef def = {"repeat", FormDef::Value::module, read, build};
    return def;
}

} // namespace shard
