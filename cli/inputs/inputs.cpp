#include "cli/inputs/inputs.h"

#include "cli/diagnostics/diagnostics.h"
#include "cli/inputs/dividing_sizes.h"
#include "cli/inputs/foreign_file.h"
#include "cli/inputs/model_source.h"
#include "cli/inputs/plan_command.h"
#include "cli/inputs/settings.h"
#include "cli/terminal/exit_code.h"
#include "importer/mlir/mlir_module.h"
#include "planner/text/yaml.h"
#include "planner/text/yaml_text.h"
#include "plans/base/printable.h"
#include "plans/file/plan_json.h"
#include "plans/plan/plan_difference.h"

#include <fmt/format.h>

namespace shard {

namespace {

Diagnostics joined(Diagnostics first, const Diagnostics& then) {
    for (const Diagnostic& diagnostic : then.all()) first.add(diagnostic);
    return first;
}

// What a file is by its content: "a model", "a layout", "a plan", "a program", or empty.
std::string_view kind_of(const Sources& sources, int file) {
    if (looks_like_plan(sources.text(file))) return "a plan";
    if (looks_like_mlir(sources.text(file))) return "a program";
    Diagnostics ignored;
    const YamlDocument yaml = parse_yaml(sources, file, ignored);
    if (!yaml || (yaml->find("graph") != nullptr) == (yaml->find("mesh") != nullptr)) return {};
    return yaml->find("graph") != nullptr ? "a model" : "a layout";
}

// E0709 for each that is a file of something else; false if neither is.
bool find_foreign(const Sources& sources, const PlanRequest& request, Diagnostics& diagnostics) {
    Diagnostics found;
    for (const int file : {request.model_file, request.layout_file}) {
        const std::optional<ForeignFile> foreign = foreign_file(sources.name(file), sources.text(file));
        if (!foreign) continue;
        const bool as_model = file == request.model_file;
        found
            .error("E0709", {},
                   fmt::format("'{}' is {}, and stands in the place of a {}", sources.name(file), foreign->what,
                               as_model ? "model" : "layout"))
            .help(std::string(as_model ? foreign->as_model : foreign->as_layout));
    }
    if (found.all().empty()) return false;
    diagnostics = std::move(found);
    return true;
}

// Where one stands in the other's place, all else that is wrong with them says nothing.
void find_swapped(const Sources& sources, const PlanRequest& request, Compilation& compilation) {
    if (!compilation.diagnostics.has_error() || find_foreign(sources, request, compilation.diagnostics)) return;
    const std::string_view model = kind_of(sources, request.model_file), layout = kind_of(sources, request.layout_file);
    const bool wrong_model = model == "a layout" || model == "a plan",
               wrong_layout = !layout.empty() && layout != "a layout";
    if (!wrong_model && !wrong_layout) return;
    compilation.diagnostics = {};
    if (model == "a layout" && (layout == "a model" || layout == "a program")) {
        compilation.diagnostics
            .error("E0709", {},
                   fmt::format("these look swapped: '{}' is a layout, '{}' is {}", sources.name(request.model_file),
                               sources.name(request.layout_file), layout))
            .help("the model comes first: MODEL LAYOUT");
        return;
    }
    const int wrong = wrong_model ? request.model_file : request.layout_file;
    compilation.diagnostics
        .error("E0709", {},
               fmt::format("'{}' is {}, and stands in the place of {}", sources.name(wrong),
                           wrong_model ? model : layout, wrong_model ? "a model" : "a layout"))
        .help(model == "a plan" || layout == "a plan" ? "a plan stands alone: it holds its model and its layout"
              : layout == "a program"                 ? "`shardc import FILE.mlir --layout LAYOUT` writes its layout"
                                                      : "give a model, then a layout: MODEL LAYOUT");
}

// The model is in compiled.sources, or could not be read.
void compile_with_layout(Compiled& compiled, std::optional<int> model_file, const LoadedText& layout,
                         const PlanArguments& asked) {
    // Both were read before stopping, so that one run says which of the two are missing.
    for (const Diagnostic& problem : layout.problems.all()) compiled.compilation.diagnostics.add(problem);
    if (!model_file || layout.problems.has_error()) return;
    const int layout_file = compiled.sources->add(layout.name, layout.text);
    if (!apply_settings(*compiled.sources, *model_file, layout_file, asked.settings, compiled.compilation.diagnostics))
        return;
    compiled.request.model_file = *model_file;
    compiled.request.layout_file = layout_file;
    compiled.request.mode = asked.mode;
    const Diagnostics said = std::move(compiled.compilation.diagnostics);
    compiled.compilation = compile(*compiled.sources, compiled.request);
    find_swapped(*compiled.sources, compiled.request, compiled.compilation);
    if (asked.proposes) propose_sizes(*compiled.sources, compiled.request, compiled.compilation);
    say_of_program(*compiled.sources, *model_file, compiled.compilation.diagnostics);
    compiled.compilation.diagnostics = joined(said, compiled.compilation.diagnostics);
}

// The texts inside a plan become the sources, ready to be compiled as they were, or on one device.
bool take_texts(const Plan& plan, Compiled& compiled) {
    *compiled.sources = Sources();
    for (const SourceText& source : plan.sources) compiled.sources->add(source.name, source.text);
    compiled.request.model_file = 0;
    compiled.request.layout_file = 1;
    compiled.request.mode = plan.mode;
    if (plan.sources.size() >= 2) return true;
    compiled.compilation.diagnostics.error("E0705", {}, "the plan does not hold the model and layout it came from")
        .help("plan the model again, or give the model and the layout instead of the plan");
    return false;
}

bool both_from_stdin(const std::string& model, const std::string& layout, Diagnostics& diagnostics) {
    if (model != "-" || layout != "-") return false;
    diagnostics.error("E0701", {}, "the model and the layout cannot both come from stdin")
        .help("name a file for one of them");
    return true;
}

// E0704, or E0108 where it may be one that was saved in another encoding.
void refuse_as_plan(const Sources& sources, int file, const std::string& path, std::string help,
                    Diagnostics& diagnostics) {
    const Span place = {file, 1, 1, 1};
    if (const std::string_view encoding = other_encoding(sources.text(file)); !encoding.empty())
        return report_encoding(encoding, place, diagnostics);
    diagnostics.error("E0704", place, fmt::format("'{}' is not a plan file", path)).help(std::move(help));
}

// A plan is what was planned.
bool refuse_settings(const PlanArguments& asked, Diagnostics& diagnostics) {
    if (asked.settings.empty()) return false;
    diagnostics.error("E0701", {}, "--set is for a model and a layout, and this is a plan")
        .help("plan again: shardc plan MODEL LAYOUT --set ...");
    return true;
}

// A plan has one mode. False after E0701.
bool check_mode(const Plan& plan, const PlanArguments& asked, Diagnostics& diagnostics) {
    if (!asked.mode_is_said || asked.mode == plan.mode) return true;
    diagnostics.error("E0701", {}, fmt::format("the plan file is for mode {}, not {}", plan.mode, asked.mode))
        .help("a plan has one mode: leave --mode away, or give MODEL LAYOUT");
    return false;
}

} // namespace

PlanArguments plan_arguments(const Arguments& arguments) {
    return {arguments.string("--mode"), arguments.strings("--set"), true, arguments.given("--mode")};
}

LoadedText load_text(Env& env, const std::string& path) {
    Sources sources;
    LoadedText loaded{printable(path), {}};
    const std::optional<int> file = load_source(env, sources, path, loaded.problems);
    if (file) loaded = {sources.name(*file), sources.text(*file)};
    return loaded;
}

LoadedModel load_model_text(Env& env, const std::string& path) {
    LoadedModel loaded;
    loaded.file = load_model(env, loaded.sources, path, loaded.problems);
    return loaded;
}

Compiled compile_texts(const LoadedModel& model, const LoadedText& layout, const PlanArguments& asked) {
    Compiled compiled;
    compiled.name = printable(layout.name);
    *compiled.sources = model.sources;
    compiled.compilation.diagnostics = model.problems;
    compile_with_layout(compiled, model.file, layout, asked);
    return compiled;
}

Compiled compile_files(Env& env, const std::string& model, const std::string& layout, const PlanArguments& asked) {
    Compiled compiled;
    compiled.name = printable(layout);
    if (both_from_stdin(model, layout, compiled.compilation.diagnostics)) return compiled;
    const LoadedModel loaded = load_model_text(env, model);
    compiled = compile_texts(loaded, load_text(env, layout), asked);
    compiled.name = printable(layout);
    return compiled;
}

Compiled compile_words(Env& env, const std::vector<std::string>& words, const PlanArguments& asked, size_t& used) {
    Compiled compiled;
    compiled.name = printable(words[0]);
    Diagnostics& diagnostics = compiled.compilation.diagnostics;
    used = std::min<size_t>(words.size(), 2);
    if (used == 2 && both_from_stdin(words[0], words[1], diagnostics)) return compiled;
    const std::optional<int> file = load_model(env, *compiled.sources, words[0], diagnostics);
    if (!file || !looks_like_plan(compiled.sources->text(*file))) {
        if (used == 2) {
            compile_with_layout(compiled, file, load_text(env, words[1]), asked);
            compiled.name = printable(words[1]);
        } else if (file) {
            refuse_as_plan(*compiled.sources, *file, words[0], "a model needs a layout beside it: MODEL LAYOUT",
                           diagnostics);
        }
        return compiled;
    }
    used = 1;
    if (refuse_settings(asked, diagnostics)) return compiled;
    std::optional<Plan> plan = parse_plan(JsonText{compiled.sources->text(*file), *file}, diagnostics);
    if (!plan || !check_mode(*plan, asked, diagnostics) || !take_texts(*plan, compiled)) return compiled;
    compiled.compilation = compile(*compiled.sources, compiled.request);
    if (compiled.plan() == nullptr) return compiled;
    if (!first_difference(*plan, *compiled.plan()).empty())
        compiled.compilation.diagnostics
            .warning("W0501", {}, "this program plans the texts inside the plan file in another way")
            .help("plan the model again; figures are those of the file, reasons those of this program");
    compiled.compilation.plan = std::move(plan);
    return compiled;
}

Compiled compile_again(const Plan& plan) {
    Compiled compiled;
    compiled.name = "compiled again";
    if (take_texts(plan, compiled)) compiled.compilation = compile(*compiled.sources, compiled.request);
    return compiled;
}

Compiled compile_reference(const Plan& plan) {
    Compiled compiled;
    compiled.name = "one device";
    if (!take_texts(plan, compiled)) return compiled;
    compiled.request.mesh_override = Mesh{};
    compiled.request.unimproved = true;
    compiled.compilation = compile(*compiled.sources, compiled.request);
    std::optional<Plan>& reference = compiled.compilation.plan;
    if (!reference) return compiled;
    // The same values to start from, where they depend on the layout.
    std::map<std::string_view, const PlanInput*> originals;
    for (const PlanInput& input : plan.inputs) originals[plan.buffers[input.buffer].name] = &input;
    for (PlanInput& input : reference->inputs) {
        const Buffer& own = reference->buffers[input.buffer];
        const std::map<std::string_view, const PlanInput*>::const_iterator original = originals.find(own.name);
        internal_check(original != originals.end(), "one device has other inputs");
        const Buffer& of = plan.buffers[original->second->buffer];
        internal_check(of.dtype == own.dtype && of.real_shape() == own.real_shape(), "one device has another input");
        input.init = original->second->init;
    }
    return compiled;
}

bool looks_like_plan(std::string_view text) {
    size_t first = text.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && text[first] == '{' &&
           text.substr(0, 4096).find("\"format_version\"") != std::string_view::npos;
}

std::vector<PlanSource> load_plans(Env& env, const std::vector<std::string>& paths, const PlanArguments& asked) {
    std::vector<PlanSource> plans;
    std::vector<std::optional<int>> files;
    const auto is_plan = [&](size_t i) { return files[i] && looks_like_plan(plans[i].sources->text(*files[i])); };
    bool any_plan = false;
    for (const std::string& path : paths) {
        PlanSource& source = plans.emplace_back();
        source.name = printable(path);
        files.push_back(files.empty() ? load_model(env, *source.sources, path, source.diagnostics)
                                      : load_source(env, *source.sources, path, source.diagnostics));
        any_plan = any_plan || is_plan(plans.size() - 1);
    }
    if (any_plan || paths.size() == 1) {
        for (size_t i = 0; i < plans.size(); ++i) {
            if (!files[i]) continue;
            if (is_plan(i)) {
                if (refuse_settings(asked, plans[i].diagnostics)) continue;
                const std::string text = plans[i].sources->text(*files[i]);
                plans[i].plan = parse_plan(JsonText{text, 0}, plans[i].diagnostics);
                if (!plans[i].plan) continue;
                plans[i].file_text = text;
                // Places in the plan's findings are places in the texts it holds.
                *plans[i].sources = Sources();
                for (const SourceText& held : plans[i].plan->sources) plans[i].sources->add(held.name, held.text);
                continue;
            }
            refuse_as_plan(*plans[i].sources, *files[i], paths[i],
                           paths.size() == 1 ? "a model needs a layout beside it: MODEL LAYOUT"
                                             : "give either plan files, or a model and layouts",
                           plans[i].diagnostics);
        }
        return plans;
    }
    // A model and layouts. Texts were read once (stdin can be read only once).
    std::vector<PlanSource> compiled;
    for (size_t i = 1; i < plans.size(); ++i) {
        PlanSource source;
        source.name = printable(paths[i]);
        *source.sources = *plans[0].sources; // of a program, that too: places in it are right
        source.diagnostics = plans[0].diagnostics;
        if (!files[0] || !files[i]) {
            source.diagnostics = joined(source.diagnostics, plans[i].diagnostics);
        } else {
            PlanRequest request;
            request.model_file = *files[0];
            request.layout_file = source.sources->add(plans[i].sources->name(0), plans[i].sources->text(0));
            request.mode = asked.mode;
            if (!apply_settings(*source.sources, request.model_file, request.layout_file, asked.settings,
                                source.diagnostics)) {
                compiled.push_back(std::move(source));
                continue;
            }
            Compilation compilation = compile(*source.sources, request);
            find_swapped(*source.sources, request, compilation);
            if (asked.proposes) propose_sizes(*source.sources, request, compilation);
            say_of_program(*source.sources, request.model_file, compilation.diagnostics);
            source.plan = std::move(compilation.plan);
            source.diagnostics =
                joined(source.diagnostics,
                       with_commands(compilation.diagnostics, {paths[0], paths[i], asked.mode, asked.settings},
                                     request.layout_file, true));
        }
        compiled.push_back(std::move(source));
    }
    return compiled;
}

std::optional<PlanSource> load_one_plan(Env& env, const Arguments& arguments, std::string_view command, int& code) {
    const std::vector<std::string> paths = arguments.strings("FILE");
    const auto refuse = [&](std::string message, std::string help) {
        Diagnostics diagnostics;
        diagnostics.error("E0701", {}, std::move(message)).help(std::move(help));
        print_diagnostics(env, Sources(), diagnostics.all());
        code = exit_usage;
        return std::optional<PlanSource>();
    };
    const std::string usage = fmt::format("usage: shardc {} PLAN | MODEL LAYOUT", command);
    if (paths.size() > 2) return refuse(fmt::format("{} takes one plan, or one model and one layout", command), usage);
    std::vector<PlanSource> loaded = load_plans(env, paths, plan_arguments(arguments));
    PlanSource& source = loaded.front();
    print_diagnostics(env, *source.sources, source.diagnostics.all());
    code = exit_code(source.diagnostics);
    if (!source.plan) return std::nullopt;
    if (loaded.size() > 1)
        return refuse(fmt::format("'{}' is a plan file, and '{}' is one file more", paths[0], paths[1]), usage);
    Diagnostics problems;
    if (paths.size() == 1 && !check_mode(*source.plan, plan_arguments(arguments), problems)) {
        print_diagnostics(env, Sources(), problems.all());
        code = exit_usage;
        return std::nullopt;
    }
    return std::move(source);
}

} // namespace shard
