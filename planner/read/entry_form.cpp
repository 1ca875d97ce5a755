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

std::optional<bool> check_module(const FormUse& use) {
    const std::optional<Name> module = read_name(use.key.value, "a module", use.diagnostics);
    if (!module) return std::nullopt;
    const std::vector<std::string_view>& modules = use.context.modules;
    if (std::find(modules.begin(), modules.end(), module->text) != modules.end()) return true;
    use.diagnostics.error("E0203", module->span, fmt::format("unknown module '{}'", module->text))
        .help(did_you_mean(module->text, modules,
                           modules.empty() ? std::string("the model declares no `modules`")
                                           : fmt::format("modules: {}", fmt::join(modules, ", "))));
    return false;
}

} // namespace shard
