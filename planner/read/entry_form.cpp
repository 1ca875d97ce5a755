#include "planner/read/entry_form.h"

#include "planner/model/names.h"
#include "planner/text/yaml_values.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

#define REGISTER(stem) const FormDef& form_##stem();
#include "form_registry.inc"
#undef REGISTER

const std::vector<const FormDef*>& all_forms() {
    static const std::vector<const FormDef*> table = {
#define REGISTER(stem) &form_##stem(),
#include "form_registry.inc"
#undef REGISTER
    };
    return table;
}

const FormDef* find_form(std::string_view name) {
    for (const FormDef* def : all_forms())
        if (def->name == name) return def;
    return nullptr;
}

bool check_required(const FormUse& use, std::initializer_list<std::string_view> required, std::string_view what,
                    std::string_view help) {
    bool good = true;
    for (std::string_view key : required) {
        if (use.yaml.find(key) != nullptr) continue;
        use.diagnostics.error("E0116", use.key.key_span, fmt::format("{} needs '{}'", what, key))
            .help(std::string(help));
        good = false;
    }
    return good;
}

const ModuleHead* called_module(const EntryContext& context, const YamlEntry& operation) {
    const FormDef* form = find_form(operation.key);
    if (form == nullptr) return context.find_module(operation.key);
    const YamlScalar* name = form->value == FormDef::Value::module ? operation.value.scalar() : nullptr;
    return name == nullptr ? nullptr : context.find_module(name->text);
}

bool check_form_keys(const FormUse& use, std::vector<std::string_view> known, std::string_view what) {
    if (const ModuleHead* module = called_module(use.context, use.key))
        for (const YamlEntry& arg : module->args) known.push_back(arg.key);
    bool good = true;
    for (const YamlEntry& entry : *use.yaml.map()) {
        if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
        use.diagnostics.error("E0225", entry.key_span, fmt::format("{} has no argument '{}'", what, entry.key))
            .help(did_you_mean(entry.key, known, fmt::format("it has {}", fmt::join(known, ", "))));
        good = false;
    }
    return good;
}

std::optional<bool> check_module(const FormUse& use) {
    const std::optional<Name> module = read_name(use.key.value, "a module", use.diagnostics);
    if (!module) return std::nullopt;
    if (use.context.find_module(module->text) != nullptr) return true;
    const std::vector<std::string_view> modules = name_texts(use.context.modules);
    use.diagnostics.error("E0203", module->span, fmt::format("unknown module '{}'", module->text))
        .help(did_you_mean(module->text, modules,
                           modules.empty() ? std::string("the model declares no `modules`")
                                           : fmt::format("modules: {}", fmt::join(modules, ", "))));
    return false;
}

} // namespace shard
