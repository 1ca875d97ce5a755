// A module's output, which is a loss, and its gradients with respect to what `wrt` names, through all that it depends
// on.
//
//     - loss, g: {value_and_grad: module, in: [x, w], wrt: [w]}
#include "planner/build/build_calls.h"
#include "planner/build/build_training.h"
#include "planner/build/model_builder.h"
#include "planner/grad/differentiate.h"
#include "planner/model/names.h"
#include "planner/text/yaml_values.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

bool read(const FormUse& use) {
    bool good = check_form_keys(use, {use.key.key, "in", "wrt", "name"}, "a value_and_grad");
    good = check_required(use, {"in", "wrt"}, "a value_and_grad",
                          "write `- loss, g: {value_and_grad: module, in: [x, w], wrt: [w]}`") &&
           good;
    good = check_module(use).value_or(false) && good;
    if (const Yaml* wrt = use.yaml.find("wrt")) good = read_value_names(*wrt, "wrt", use.diagnostics) && good;
    return good;
}

// --- build ---

// False, after E0244: the value lies within a module that declares its own gradient, and is none of its results.
bool check_reached(Builder& builder, ValueId id, const Name& name) {
    const NodeId producer = builder.graph().value(id).producer;
    for (const Call& call : builder.graph().calls) {
        if (call.composite || producer < call.first || producer >= call.last) continue;
        if (std::find(call.results.begin(), call.results.end(), id) != call.results.end()) continue;
        builder.diagnostics()
            .error("E0244", name.span,
                   fmt::format("'{}' lies within a module that declares its own gradient: none reaches it", name.text))
            .label(builder.graph().value(id).span, "here")
            .help("ask for the gradients of the module's inputs and parameters");
        return false;
    }
    return true;
}

// The call of the module, as a model could write it.
Entry differentiated_call(const Entry& entry) {
    Entry call = entry;
    const YamlEntry* module = argument(entry, entry.op.text);
    internal_check(module != nullptr && module->value.scalar() != nullptr, "value_and_grad without a module");
    call.op = {module->value.scalar()->text, module->value.span};
    if (!call.results.empty()) call.results.resize(1);
    std::erase_if(call.arguments,
                  [&](const YamlEntry& item) { return item.key == entry.op.text || item.key == "wrt"; });
    return call;
}

BuiltValues value_and_gradients(Builder& builder, const Scope& scope, const Entry& entry,
                                const std::vector<ValueId>& outputs) {
    if (outputs.size() != 1 || !is_float_scalar(builder.type(outputs[0]))) {
        builder.diagnostics()
            .error(
                "E0240", entry.op.span,
                fmt::format("what is differentiated is a single floating-point number, and the module's output is {}",
                            outputs.size() == 1 ? type_words(builder.type(outputs[0]))
                                                : fmt::format("{} values", outputs.size())))
            .help("let the module end in a loss");
        return std::nullopt;
    }
    const YamlEntry* wrt = argument(entry, "wrt");
    internal_check(wrt != nullptr, "value_and_grad without wrt");
    const std::optional<std::vector<Name>> names = read_value_names(wrt->value, "wrt", builder.diagnostics());
    if (!names) return std::nullopt;
    std::vector<ValueId> values;
    bool ok = true;
    for (const Name& name : *names) {
        const std::optional<ValueId> value = scope.find(name.text, builder.graph());
        if (!value) scope.report_unknown(name, builder.graph(), builder.diagnostics());
        ok = ok && value && *value != poisoned;
        if (!value || *value == poisoned) continue;
        values.push_back(*value);
        ok = check_reached(builder, *value, name) && ok;
        if (is_floating(builder.type(*value).dtype)) continue;
        builder.diagnostics().error("E0224", name.span,
                                    fmt::format("'{}' is {}: only floating-point values have gradients", name.text,
                                                type_words(builder.type(*value))));
        ok = false;
    }
    if (!ok) return std::nullopt;
    std::vector<ValueId> results = outputs;
    const size_t before = builder.graph().values.size();
    for (ValueId gradient : differentiate(builder, outputs[0], values)) results.push_back(gradient);
    for (size_t n = 1; n < results.size() && n < entry.results.size(); ++n) {
        internal_check(static_cast<size_t>(results[n]) >= before, "a gradient is a value of its own");
        const std::string path = builder.unique_name(scope.full(entry.results[n].text), "#");
        builder.rename(results[n], path, entry.results[n].span);
    }
    for (size_t n = 0; n < values.size(); ++n) {
        if (builder.graph().value(values[n]).role != Role::param) continue;
        builder.graph().value(results[n + 1]).role = Role::gradient;
        builder.graph().value(results[n + 1]).of = values[n];
    }
    return results;
}

BuiltValues build(ModelBuilder& model, Scope& scope, const Entry& entry, const ModulePath& around) {
    const BuiltValues outputs = model.call(scope, differentiated_call(entry), around);
    const BuiltValues results = outputs ? value_and_gradients(model.builder(), scope, entry, *outputs) : std::nullopt;
    if (results) model.add_named(std::span(*results).subspan(1));
    return results;
}

} // namespace

const FormDef& form_value_and_grad() {
    static const FormDef def = {"value_and_grad", FormDef::Value::module, read, build};
    return def;
}

} // namespace shard
