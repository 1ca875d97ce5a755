#include "planner/build/build_calls.h"

#include "planner/graph/graph_order.h"
#include "planner/graph/op_names.h"
#include "planner/model/names.h"
#include "planner/read/entry_form.h"
#include "planner/text/yaml_values.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace shard {

bool check_recursion(const Model& model, Diagnostics& diagnostics) {
    std::vector<std::pair<int, int>> calls;
    for (size_t m = 0; m < model.modules.size(); ++m) {
        std::vector<Entry> entries = model.modules[m].graph;
        if (const std::optional<GradientDecl>& gradient = model.modules[m].gradient)
            entries.insert(entries.end(), gradient->graph.begin(), gradient->graph.end());
        for (const Entry& entry : entries)
            if (const ModuleDecl* callee = called_module(model, entry))
                calls.emplace_back(static_cast<int>(m), static_cast<int>(model.modules.place_of(*callee)));
    }
    const std::vector<int> cycle = find_cycle(static_cast<int>(model.modules.size()), calls);
    if (cycle.empty()) return true;
    std::string text;
    for (int m : cycle) text += model.modules[m].name.text + " -> ";
    const Name& first = model.modules[cycle[0]].name;
    diagnostics.error("E0230", first.span, fmt::format("module '{}' calls itself: {}{}", first.text, text, first.text))
        .help("a module may not contain itself; write `repeat` for several in a row");
    return false;
}

const YamlEntry* argument(const Entry& entry, std::string_view key) {
    for (const YamlEntry& item : entry.arguments)
        if (item.key == key) return &item;
    return nullptr;
}

const ModuleDecl* called_module(const Model& model, const Entry& entry) {
    const FormDef* form = find_form(entry.op.text);
    if (form == nullptr) return model.find_module(entry.op.text);
    if (form->value != FormDef::Value::module) return nullptr;
    const YamlEntry* block = argument(entry, form->name);
    const YamlScalar* name = block ? block->value.scalar() : nullptr;
    return name ? model.find_module(name->text) : nullptr;
}

void report_unknown_op(const Model& model, const Entry& entry, Diagnostics& diagnostics) {
    std::vector<std::string_view> names;
    for (const OpDef* def : all_ops()) names.push_back(def->name);
    for (const CompositeDef* def : all_composites()) names.push_back(def->name);
    for (const ModuleHead& module : model.heads) names.push_back(module.name.text);
    diagnostics.error("E0203", entry.op.span, fmt::format("unknown op '{}'", entry.op.text))
        .help(unknown_op_help(entry.op.text, names));
}

namespace {

void report_unknown_argument(const Model& model, const std::string& module, const YamlEntry& argument,
                             Diagnostics& diagnostics) {
    std::vector<std::string_view> names;
    for (const ModuleHead& head : model.heads)
        for (const YamlEntry& arg : head.args)
            if (head.name.text == module) names.push_back(arg.key);
    diagnostics.error("E0225", argument.key_span, fmt::format("module '{}' has no argument '{}'", module, argument.key))
        .help(did_you_mean(argument.key, names,
                           fmt::format("a call takes operands, {}`name` for the instance",
                                       names.empty() ? "and " : fmt::format("{}, and ", fmt::join(names, ", ")))));
}

} // namespace

std::optional<std::string> read_instance_name(const Model& model, const ModuleDecl& module, const Entry& entry,
                                              Diagnostics& diagnostics) {
    std::string instance = module.written_name();
    for (const YamlEntry& item : entry.arguments) {
        const std::optional<Name> name =
            item.key == "name" ? read_name(item.value, "an instance", diagnostics) : std::nullopt;
        if (item.key != "name") report_unknown_argument(model, module.written_name(), item, diagnostics);
        if (!name) return std::nullopt;
        instance = name->text;
    }
    return instance;
}

void warn_unused(Builder& builder, std::span<const ValueId> named, const std::map<ValueId, ValueId>& read_as) {
    const Graph& graph = builder.graph();
    std::set<std::tuple<int, int, int>> reported; // file, line, column
    const auto warn = [&](ValueId id, std::string_view what) {
        const Value& value = graph.value(id);
        const std::map<ValueId, ValueId>::const_iterator read = read_as.find(id);
        if (builder.is_used(id) && (read == read_as.end() || builder.is_used(read->second))) return;
        if (!reported.emplace(value.span.file, value.span.line, value.span.column).second) return;
        builder.diagnostics()
            .warning("W0201", value.span, fmt::format("{} '{}' is not used", what, value.name))
            .help("remove it, or name it in `outputs`");
    };
    for (ValueId id : graph.inputs) warn(id, name(graph.value(id).role));
    for (ValueId id : named) warn(id, "value");
}

} // namespace shard
