#include "planner/read/gradient_reader.h"

#include "planner/model/names.h"
#include "planner/read/entry_reader.h"
#include "planner/text/yaml_values.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

constexpr std::string_view form_help = "write gradient: {given: {y: dy}, graph: [...], gives: {x: dx}}";

class GradientReader {
public:
    GradientReader(const ModuleDecl& module, const EntryContext& context, Diagnostics& diagnostics)
        : module_(&module), context_(&context), diagnostics_(&diagnostics) {}

    std::optional<GradientDecl> read(const Yaml& yaml) {
        if (yaml.map() == nullptr) {
            diagnostics_->error("E0113", yaml.span, fmt::format("a gradient: expected a map, found {}", yaml.kind()))
                .help(std::string(form_help));
            return std::nullopt;
        }
        bool good = check_keys(yaml, {"given", "graph", "gives"}, "a gradient", *diagnostics_);
        for (std::string_view key : {"given", "gives"}) {
            if (yaml.find(key) != nullptr) continue;
            diagnostics_->error("E0116", yaml.span, fmt::format("a gradient needs '{}'", key))
                .help(std::string(form_help));
            good = false;
        }
        GradientDecl decl;
        decl.span = yaml.span;
        if (const Yaml* given = yaml.find("given"))
            good = read_pairs(*given, "given", "an output", name_of(module_->outputs), decl.given) && good;
        for (const GradientDecl::Pair& pair : decl.given) good = check_new(pair.value, decl) && good;
        if (const Yaml* graph = yaml.find("graph"))
            good = read_graph(*graph, *context_, decl.graph, *diagnostics_) && good;
        std::vector<std::string_view> operands = name_of(module_->inputs);
        for (const TensorDecl& param : module_->params) operands.push_back(param.array.name.text);
        if (const Yaml* gives = yaml.find("gives"))
            good = read_pairs(*gives, "gives", "an input or a parameter", operands, decl.gives) && good;
        if (!good) return std::nullopt;
        return decl;
    }

private:
    static std::vector<std::string_view> name_of(const std::vector<Name>& names) {
        std::vector<std::string_view> texts;
        for (const Name& name : names) texts.push_back(name.text);
        return texts;
    }

    bool read_pairs(const Yaml& yaml, std::string_view key, std::string_view what,
                    const std::vector<std::string_view>& known, std::vector<GradientDecl::Pair>& pairs) {
        if (yaml.map() == nullptr) {
            diagnostics_
                ->error("E0113", yaml.span, fmt::format("{}: expected a map of names, found {}", key, yaml.kind()))
                .help(std::string(form_help));
            return false;
        }
        bool good = true;
        for (const YamlEntry& item : *yaml.map()) {
            if (std::find(known.begin(), known.end(), item.key) == known.end()) {
                suggest(diagnostics_->error(
                            "E0244", item.key_span,
                            fmt::format("{}: '{}' is not {} of module '{}'", key, item.key, what, module_->name.text)),
                        item.key, known);
                good = false;
            }
            const std::optional<std::vector<Name>> name = read_value(item.value, key);
            good = good && name;
            if (name) pairs.push_back({{item.key, item.key_span}, name->front()});
        }
        return good;
    }

    // `given` makes names, `gives` refers to values.
    std::optional<std::vector<Name>> read_value(const Yaml& yaml, std::string_view key) {
        if (key == "given") {
            const std::optional<Name> name = read_name(yaml, "a gradient", *diagnostics_);
            return name ? std::optional(std::vector{*name}) : std::nullopt;
        }
        if (yaml.list() == nullptr) return read_value_names(yaml, "a gradient", *diagnostics_);
        diagnostics_->error("E0113", yaml.span, "a gradient: expected a name, found a list");
        return std::nullopt;
    }

    // E0214 if a name that is given hides what the gradient's graph could see.
    bool check_new(const Name& name, const GradientDecl& decl) {
        std::vector<const Name*> others;
        for (const Name& input : module_->inputs) others.push_back(&input);
        for (const TensorDecl& param : module_->params) others.push_back(&param.array.name);
        for (const Entry& entry : module_->graph)
            for (const Name& result : entry.results) others.push_back(&result);
        for (const GradientDecl::Pair& pair : decl.given) {
            if (&pair.value == &name) break;
            others.push_back(&pair.value);
        }
        for (const Name* other : others) {
            if (other->text != name.text) continue;
            diagnostics_
                ->error("E0214", name.span,
                        fmt::format("'{}' is a name of module '{}' already", name.text, module_->name.text))
                .label(other->span, "here")
                .help("give the gradient another name");
            return false;
        }
        return true;
    }

    const ModuleDecl* module_;
    const EntryContext* context_;
    Diagnostics* diagnostics_;
};

} // namespace

std::optional<GradientDecl> read_gradient(const Yaml& yaml, const ModuleDecl& module, const EntryContext& context,
                                          Diagnostics& diagnostics) {
    return GradientReader(module, context, diagnostics).read(yaml);
}

} // namespace shard
