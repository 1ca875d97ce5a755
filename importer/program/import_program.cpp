#include "importer/program/import_program.h"

#include "importer/mlir/mlir_reader.h"
#include "importer/model/op_context.h"
#include "importer/model/program_walk.h"
#include "importer/model/sharding_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// params['Block_0']['kernel'] and state.mu[0] as a path: params.Block_0.kernel, state.mu.0.
std::string path_of(std::string_view text) {
    std::string path;
    for (const char c : text) {
        const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        if (fits)
            path += c;
        else if (!path.empty() && path.back() != '.')
            path += '.';
    }
    while (path.ends_with('.')) path.pop_back();
    return path;
}

struct Argument {
    std::string path;
    bool is_param = false;
};

// What a parameter is called: its path without the part that all of them begin with, params.
std::string short_name(const Argument& argument, const std::vector<Argument>& all) {
    const size_t dot = argument.path.find('.');
    if (!argument.is_param || dot == std::string::npos) return name_text(argument.path);
    const std::string root = argument.path.substr(0, dot + 1);
    const bool shared =
        std::all_of(all.begin(), all.end(), [&](const Argument& a) { return !a.is_param || a.path.starts_with(root); });
    std::string rest = argument.path.substr(dot + 1);
    // A flax model has its parameters below params['params'].
    if (shared && rest.starts_with("params.")) rest = rest.substr(7);
    return name_text(shared ? rest : argument.path);
}

// "result[1]['w']", as JAX notes it beside a result.
std::string result_name(const MlirFunction& main, size_t i) {
    if (i >= main.result_attributes.size() || main.result_attributes[i].parts.empty()) return {};
    const MlirAttribute* const noted = find_attribute(main.result_attributes[i].parts[0].items, {"jax.result_info"});
    return noted == nullptr ? std::string() : name_text(noted->text);
}

// One line of a section of the layout for each array that the program says a sharding of.
class LayoutText {
public:
    explicit LayoutText(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

    void add(std::string_view section, const std::string& name, const std::vector<MlirItem>& attributes, size_t i,
             Span span) {
        if (i >= attributes.size() || attributes[i].parts.empty()) return;
        const std::vector<MlirItem>& items = attributes[i].parts[0].items;
        if (find_item(items, {"mhlo.sharding"}) != nullptr) warn_of_device_sharding(span, diagnostics_);
        const MlirAttribute* const sharding = find_attribute(items, {"sdy.sharding"});
        if (sharding == nullptr) return;
        if (const std::optional<std::string> text = sharding_text(*sharding))
            sections_[std::string(section)] += fmt::format("  {}: {}\n", name, *text);
        else
            diagnostics_.error("E0804", sharding->span, "a sharding that a layout cannot say")
                .help("name whole axes, and let none follow where there are several");
    }

    std::string print(const MlirModule& module) const {
        std::string text = fmt::format("mesh: {}\n", mesh_text(module));
        for (const std::string_view section : {"inputs", "params", "outputs"})
            if (const std::map<std::string, std::string>::const_iterator it = sections_.find(std::string(section));
                it != sections_.end())
                text += fmt::format("{}:\n{}", section, it->second);
        return text;
    }

private:
    Diagnostics& diagnostics_;
    std::map<std::string, std::string> sections_;
};

} // namespace

std::optional<ImportedProgram> import_program(const Sources& sources, int file, const ImportRequest& request,
                                              Diagnostics& diagnostics) {
    const std::optional<MlirModule> module = read_mlir(sources, file, diagnostics);
    if (!module) return std::nullopt;
    const MlirFunction* const found = module->find("main");
    const MlirFunction& main = found != nullptr ? *found : module->functions.front();

    Draft draft;
    ProgramWalk walk(*module, draft, diagnostics);
    std::vector<Argument> all;
    for (size_t i = 0; i < main.body.arguments.size(); ++i) {
        Argument argument;
        argument.path = path_of(module->location_name(module->values[main.body.arguments[i]].location));
        if (argument.path.empty()) argument.path = fmt::format("arg{}", i);
        argument.is_param = request.is_param && request.is_param(argument.path);
        all.push_back(std::move(argument));
    }
    std::vector<DraftId> arguments;
    for (size_t i = 0; i < all.size(); ++i) {
        const std::optional<DraftType> type = walk.draft_type(main.body.arguments[i]);
        if (!type) continue;
        arguments.push_back(
            draft.input(short_name(all[i], all), *type, all[i].is_param, module->values[main.body.arguments[i]].span));
    }
    if (diagnostics.has_error()) return std::nullopt;
    const std::optional<std::vector<DraftId>> results = walk.region(main.body, arguments, main.span);
    if (!results) return std::nullopt;
    if (results->empty()) {
        diagnostics.error("E0806", main.span, fmt::format("@{} returns nothing", main.name))
            .help("let the program return what it computes");
        return std::nullopt;
    }
    std::vector<DraftId> outputs;
    for (size_t i = 0; i < results->size(); ++i) {
        const DraftType& type = draft.type((*results)[i]);
        std::string name = result_name(main, i);
        if (i == 0 && type.shape.empty() && is_floating(type.dtype)) name = "loss";
        if (name.empty()) name = "result";
        DraftId output = draft.output((*results)[i], name);
        // The same value twice is two outputs.
        if (std::find(outputs.begin(), outputs.end(), output) != outputs.end())
            output = draft.output(
                draft.add("reshape", {output}, fmt::format(", shape: {}", list_text(type.shape)), type), name);
        outputs.push_back(output);
    }
    std::string name = name_text(module->name);
    if (name.starts_with("jit_")) name = name.substr(4);
    ImportedProgram program;
    program.place = main.span;
    program.model = draft.print(name.empty() ? "program" : name, outputs);
    program.values = draft.printed();
    LayoutText layout(diagnostics);
    for (size_t i = 0; i < arguments.size(); ++i)
        layout.add(all[i].is_param ? "params" : "inputs", draft.name_of(arguments[i]), main.argument_attributes, i,
                   module->values[main.body.arguments[i]].span);
    for (size_t i = 0; i < outputs.size(); ++i)
        layout.add("outputs", draft.name_of(outputs[i]), main.result_attributes, i, main.span);
    if (diagnostics.has_error()) return std::nullopt;
    program.layout = layout.print(*module);
    return program;
}

} // namespace shard
