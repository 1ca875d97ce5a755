#include "cli/report/registries.h"

#include "cli/command/command.h"
#include "cli/command/format.h"
#include "cli/report/json_schema_keys.h"
#include "exporter/target/target.h"
#include "planner/graph/arity.h"
#include "planner/graph/op_def.h"
#include "planner/graph/optimizer.h"
#include "planner/model/policy.h"
#include "planner/pipeline/passes.h"
#include "planner/read/hardware.h"
#include "planner/read/include.h"
#include "planner/text/embedded_texts.h"
#include "plans/diagnostics/codes.h"
#include "plans/random/initializer.h"

#include <fmt/format.h>

namespace shard {

namespace {

std::string_view type_name(AttributeDef::Type type) {
    switch (type) {
    case AttributeDef::Type::integer:
        return "integer";
    case AttributeDef::Type::number:
    case AttributeDef::Type::element:
        return "number";
    case AttributeDef::Type::flag:
        return "true or false";
    case AttributeDef::Type::string:
        return "text";
    case AttributeDef::Type::dtype:
        return "dtype";
    case AttributeDef::Type::integers:
        return "integers";
    case AttributeDef::Type::pairs:
        return "pairs of integers";
    case AttributeDef::Type::elements:
        return "numbers";
    case AttributeDef::Type::size:
        return "size";
    case AttributeDef::Type::dims:
        return "dims, by name or number";
    case AttributeDef::Type::dim:
        return "dim, by name or number";
    case AttributeDef::Type::shape:
        return "shape";
    case AttributeDef::Type::axes:
        return "logical axes";
    case AttributeDef::Type::sharding:
        return "sharding, by mesh axes";
    case AttributeDef::Type::mesh_axes:
        return "mesh axes";
    }
    return "";
}

template<class Def>
std::vector<Item> op_items(const std::vector<const Def*>& defs) {
    std::vector<Item> items;
    for (const Def* def : defs) {
        Item item{std::string(def->name), summary_of(def->doc), std::string(def->doc)};
        item.arguments.emplace_back("operands", arity_text(def->operands));
        for (const AttributeDef& attribute : def->attributes)
            item.arguments.emplace_back(std::string(attribute.name),
                                        fmt::format("{}{}{}{}", type_name(attribute.type),
                                                    attribute.required ? ", required" : "",
                                                    attribute.doc.empty() ? "" : ": ", attribute.doc));
        items.push_back(std::move(item));
    }
    return items;
}

std::vector<Item> ops() { return op_items(all_ops()); }

// An optimizer has lists of parameters besides.
std::vector<Item> composites() {
    std::vector<Item> items = op_items(all_composites());
    for (Item& item : items)
        if (const OptimizerDef* optimizer = find_optimizer(item.name))
            for (const ParameterList& list : optimizer->lists)
                item.arguments.emplace_back(std::string(list.name),
                                            fmt::format("paths of parameters: {}", list.example));
    return items;
}

std::vector<Item> collectives() {
    std::vector<Item> items;
    for (const CollectiveDef* def : all_collectives())
        items.push_back({std::string(def->name), summary_of(def->doc), std::string(def->doc)});
    return items;
}

// The doc of a profile is the profile itself: its numbers with their sources.
std::vector<Item> hardware() {
    std::vector<Item> items;
    for (const std::string& name : builtin_hardware()) {
        Sources sources;
        Diagnostics diagnostics;
        std::optional<Hardware> profile = load_hardware(name, {}, sources, diagnostics);
        std::string text;
        for (const EmbeddedText& embedded : embedded_hardware())
            if (embedded.name == name) text = embedded.text;
        while (!text.empty() && text.back() == '\n') text.pop_back();
        items.push_back({name, profile ? summary_of(profile->doc) : "", text});
    }
    return items;
}

// As profiles: the doc of modules is their text.
std::vector<Item> library_items() {
    std::vector<Item> items;
    for (const LibraryFile& file : library())
        items.push_back({file.name, summary_of(file.doc), file.text.substr(0, file.text.find_last_not_of('\n') + 1)});
    return items;
}

std::vector<Item> codes() {
    std::vector<Item> items;
    for (const CodeDoc& code : all_codes())
        items.push_back(
            {std::string(code.code), std::string(code.title), fmt::format("{}\n{}", code.title, code.explain)});
    return items;
}

std::vector<Item> policies() {
    std::vector<Item> items;
    for (const PolicyDef* def : all_policies())
        items.push_back({std::string(def->name), summary_of(def->doc), std::string(def->doc)});
    return items;
}

std::vector<Item> passes() {
    std::vector<Item> items;
    for (const PassDef& pass : all_passes())
        items.push_back({std::string(pass.name), std::string(pass.holds),
                         fmt::format("{}\n\nAfterwards: {}.", pass.doc, pass.holds)});
    return items;
}

std::vector<Item> commands() {
    std::vector<Item> items;
    for (const CommandDef* def : all_commands()) {
        Item item{std::string(def->name), std::string(def->summary), fmt::format("{}\n{}", def->summary, def->doc)};
        for (const OptionDef& option : def->options)
            item.arguments.emplace_back(std::string(option.name), std::string(option.doc));
        items.push_back(std::move(item));
    }
    return items;
}

std::vector<Item> formats() {
    std::vector<Item> items;
    for (const FormatDef* def : all_formats())
        items.push_back({std::string(def->name), std::string(def->doc), std::string(def->doc)});
    return items;
}

std::vector<Item> targets() {
    std::vector<Item> items;
    for (const TargetDef* def : all_targets())
        items.push_back({std::string(def->name), std::string(def->doc), std::string(def->doc)});
    return items;
}

std::vector<Item> initializer_items() {
    std::vector<Item> items;
    for (const InitializerInfo& info : initializers()) {
        Item item{std::string(info.name), summary_of(info.doc), std::string(info.doc)};
        std::string_view rest = info.arguments;
        while (!rest.empty()) {
            std::string_view word = rest.substr(0, rest.find(' '));
            rest.remove_prefix(std::min(word.size() + 1, rest.size()));
            size_t equals = word.find('=');
            bool required = equals == std::string_view::npos;
            item.arguments.emplace_back(std::string(word.substr(0, equals)),
                                        required ? "required" : fmt::format("default {}", word.substr(equals + 1)));
        }
        items.push_back(std::move(item));
    }
    return items;
}

} // namespace

std::string summary_of(std::string_view doc) {
    size_t end = std::min(doc.find('\n'), doc.size());
    for (size_t i = 1; i + 1 < end; ++i)
        if (doc[i] == '.' && doc[i + 1] == ' ' && doc[i - 1] != '.') return std::string(doc.substr(0, i));
    while (end > 0 && (doc[end - 1] == '.' || doc[end - 1] == ':')) --end;
    return std::string(doc.substr(0, end));
}

const std::vector<Registry>& all_registries() {
    static const std::vector<Registry> registries = {
        {"ops", "op", "primitive operations of a model's graph", ops},
        {"composites", "composite", "operations written over the primitive ones", composites},
        {"collectives", "collective", "what devices do together", collectives},
        {"hardware", "hardware profile", "built-in profiles, for `hardware:` in a layout", hardware, true},
        {"library", "file of modules", "in the box, for `include:` in a model", library_items, true},
        {"initializers", "initializer", "for `init:` of inputs and params", initializer_items},
        {"keys", "key", "of models, layouts, policies and shardc.yaml, and what stands behind each", schema_keys},
        {"policies", "policy", "what `check` holds a plan to, for `policy` in a layout or a policy file", policies},
        {"passes", "pass", "what `plan` does, in order, and what holds after each", passes},
        {"codes", "code", "what diagnostics and findings are called", codes},
        {"commands", "command", "of shardc", commands},
        {"formats", "format", "for `--format`", formats},
        {"targets", "target", "what `export` writes a plan as", targets},
    };
    return registries;
}

const Registry* find_registry(std::string_view name) {
    for (const Registry& registry : all_registries())
        if (registry.name == name || registry.one == name) return &registry;
    return nullptr;
}

} // namespace shard
