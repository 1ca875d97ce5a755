#include "cli/inputs/model_source.h"

#include "cli/diagnostics/diagnostics.h"
#include "cli/inputs/foreign_file.h"
#include "importer/mlir/mlir_module.h"
#include "planner/pipeline/passes.h"
#include "planner/pipeline/pipeline.h"
#include "planner/read/checkpoint_names.h"
#include "planner/read/include.h"
#include "planner/text/glob.h"
#include "plans/base/parse_number.h"
#include "plans/base/printable.h"
#include "plans/base/shell_word.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace shard {

namespace {

bool is_meant(const std::string& pattern, const std::string& path) {
    return glob_matches(pattern, path) || glob_matches(pattern, path.substr(0, path.find('.')));
}

ImportRequest import_request(const ProgramOptions& options, const std::string& name) {
    const std::vector<std::string> used =
        options.params.empty() ? std::vector<std::string>{"params", "*.params.**"} : options.params;
    ImportRequest request;
    request.is_param = [used](const std::string& path) {
        return std::any_of(used.begin(), used.end(),
                           [&](const std::string& pattern) { return is_meant(pattern, path); });
    };
    request.as = options.as;
    request.axes = options.axes;
    if (options.says_lines && name.find_first_of("\"'\\") == std::string::npos && printable(name) == name)
        request.program = name;
    if (!options.optimizer.empty()) request.optimizer = options.optimizer;
    std::error_code problem;
    request.folder = std::filesystem::current_path(problem).string();
    return request;
}

// An error of the model, at the op of the program that its line is for.
Diagnostic at_op(Diagnostic problem, const Sources& sources, int model, const ImportedProgram& program) {
    Label label = problem.labels.empty() ? Label() : problem.labels.front();
    if (label.span.known()) {
        std::string_view line = sources.line(label.span.file, label.span.line);
        line.remove_prefix(std::min(line.find_first_not_of(" -"), line.size()));
        problem.notes.push_back(fmt::format("it becomes {}", line));
    }
    const std::vector<ModelValue>::const_iterator value =
        std::find_if(program.values.begin(), program.values.end(),
                     [&](const ModelValue& v) { return label.span.file == model && v.line == label.span.line; });
    problem.labels = {{value == program.values.end() ? program.place : value->place, std::move(label.text)}};
    return problem;
}

// Types are inferred by the planner alone: an op that is not as its definition says is found there.
bool is_sound(const ImportedProgram& program, Diagnostics& diagnostics) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model", program.model);
    request.layout_file = sources.add("layout", program.layout);
    request.passes = all_passes().first(static_cast<size_t>(find_pass("build") - all_passes().data()) + 1);
    const Compilation made = compile(sources, request);
    for (const Diagnostic& problem : made.diagnostics.all())
        if (problem.severity == Severity::error) diagnostics.add(at_op(problem, sources, request.model_file, program));
    if (diagnostics.has_error()) return false;
    std::map<std::string_view, const TensorType*> types;
    for (const Value& value : made.graph->values) types[value.name] = &value.type;
    for (const ModelValue& value : program.values) {
        const std::map<std::string_view, const TensorType*>::const_iterator it = types.find(value.name);
        if (it == types.end()) continue;
        const TensorType& type = *it->second;
        if (type.dtype == value.type.dtype && type.shape == value.type.shape) continue;
        diagnostics.error("E0801", value.place,
                          fmt::format("the program says {} {}, and this makes {} {}", name(value.type.dtype),
                                      shape_text(value.type.shape), name(type.dtype), shape_text(type.shape)));
    }
    return !diagnostics.has_error();
}

// Patterns that are given match something.
void check_params(const ProgramOptions& options, const ImportedProgram& program, Diagnostics& diagnostics) {
    for (const std::string& pattern : options.params) {
        std::vector<std::string_view> paths;
        bool any = false;
        for (const auto& [path, name] : program.names) {
            any = any || is_meant(pattern, path);
            paths.push_back(path);
        }
        if (any) continue;
        diagnostics.error("E0701", {}, fmt::format("--params: '{}' matches no argument of the program", pattern))
            .help(did_you_mean(
                pattern, paths,
                paths.empty()
                    ? "it takes none"
                    : fmt::format("it takes {}",
                                  fmt::join(paths.begin(),
                                            paths.begin() + std::min<std::ptrdiff_t>(8, std::ssize(paths)), ", "))));
    }
}

// What a program needs to be trained by shardc.
std::string how_to_train(const Sources& sources, int file) {
    Diagnostics unsaid;
    const std::optional<ImportedProgram> program =
        import_program(sources, file, import_request({}, sources.name(file)), unsaid);
    const std::string name = shell_word(sources.name(file));
    if (program && program->is == ImportAs::step)
        return fmt::format(
            "the program is a step as it is, which updates what it donates: plan it without --mode train, "
            "or train its loss: `shardc import {} --as loss --output model.yaml`",
            name);
    if (program && !program->likely_params.empty())
        return fmt::format(
            "say which arguments are parameters: `shardc import {} --params {} --output model.yaml`, and "
            "plan model.yaml",
            name, shell_word(program->likely_params));
    return fmt::format("let it return the loss, alone or with others: `shardc import {} --as loss` says what it lacks",
                       name);
}

// The program's line with the function that it begins with.
Span function_of(const Sources& sources, int program) {
    const std::string_view text = sources.text(program);
    int line = 1;
    for (size_t begin = 0; begin < text.size(); ++line) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        const std::string_view words = text.substr(begin, end - begin);
        const size_t at = words.find("func.func ");
        if (at != std::string_view::npos && words.find("@main") != std::string_view::npos)
            return {program, line, static_cast<int>(at) + 1, static_cast<int>(words.find("@main") - at) + 5};
        begin = end + 1;
    }
    return {program, 1, 1, 1};
}

// Where a line of the model says that it comes from; not known if it does not say.
Span said_place(const Sources& sources, const Span& span) {
    const std::string_view line = sources.line(span.file, span.line);
    const size_t at = line.rfind("at: \"");
    if (at == std::string_view::npos) return {};
    const std::string_view place = line.substr(at + 5, line.find('"', at + 5) - at - 5);
    for (int file = 0; file < sources.count(); ++file) {
        const std::string& name = sources.name(file);
        if (file == span.file || !place.starts_with(name) || place.substr(name.size()).substr(0, 1) != ":") continue;
        const std::string_view numbers = place.substr(name.size() + 1);
        const size_t colon = std::min(numbers.find(':'), numbers.size());
        const std::optional<int> row = parse_number<int>(numbers.substr(0, colon));
        const std::optional<int> column =
            colon < numbers.size() ? parse_number<int>(numbers.substr(colon + 1)) : std::optional(1);
        if (row && column) return {file, *row, *column, sources.text(file).empty() ? 0 : 1};
    }
    return {};
}

} // namespace

void say_of_program(const Sources& sources, int model, Diagnostics& diagnostics) {
    constexpr int program = 0;
    if (model <= program || sources.name(model) != sources.name(program) + ".yaml") return;
    Diagnostics said;
    for (Diagnostic diagnostic : diagnostics.all()) {
        for (size_t i = 0; i < diagnostic.labels.size(); ++i) {
            Span& span = diagnostic.labels[i].span;
            if (!span.known()) continue;
            if (span.file == model) {
                std::string_view line = sources.line(model, span.line);
                line.remove_prefix(std::min(line.find_first_not_of(" -"), line.size()));
                const Span place = said_place(sources, span);
                if (i == 0)
                    diagnostic.notes.insert(diagnostic.notes.begin(),
                                            place.known()
                                                ? fmt::format("it becomes {}", line)
                                                : fmt::format("in the model that `shardc import {}` makes of it: {}",
                                                              shell_word(sources.name(program)), line));
                span = place.known() ? place : function_of(sources, program);
            }
            // A place that the model names: the text of the program is there.
            if (span.file != program && sources.text(span.file).empty() &&
                sources.name(span.file) == sources.name(program))
                span = {program, span.line, span.column, 1};
        }
        if (diagnostic.code == "E0242") diagnostic.help = how_to_train(sources, program);
        said.add(std::move(diagnostic));
    }
    diagnostics = std::move(said);
}

bool is_of_import(const Diagnostic& diagnostic) { return diagnostic.code.starts_with("W08"); }

std::optional<ImportedProgram> checked_program(const Sources& sources, int file, const ProgramOptions& options,
                                               Diagnostics& diagnostics) {
    const std::string& text = sources.text(file);
    if (const std::optional<ForeignFile> foreign = foreign_file(sources.name(file), text);
        foreign && !looks_like_mlir(text)) {
        diagnostics
            .error("E0709", {}, fmt::format("'{}' is {}, not a text of StableHLO", sources.name(file), foreign->what))
            .help(std::string(foreign->as_model));
        return std::nullopt;
    }
    std::optional<ImportedProgram> program =
        import_program(sources, file, import_request(options, sources.name(file)), diagnostics);
    if (program) check_params(options, *program, diagnostics);
    if (program && (diagnostics.has_error() || !is_sound(*program, diagnostics))) program.reset();
    return program;
}

std::optional<int> load_model(Env& env, Sources& sources, const std::string& path, Diagnostics& diagnostics) {
    const std::optional<int> file = load_source(env, sources, path, diagnostics);
    if (!file) return file;
    if (!path.ends_with(".mlir") && !looks_like_mlir(sources.text(*file))) {
        const ReadText read = [&env](const std::string& named) {
            std::string problem;
            return env.files.read(named, problem);
        };
        load_includes(sources, *file, read);
        load_checkpoint_names(sources, *file, read);
        return file;
    }
    const std::optional<ImportedProgram> program = checked_program(sources, *file, {.says_lines = true}, diagnostics);
    if (!program) return std::nullopt;
    return sources.add(sources.name(*file) + ".yaml", program->model);
}

} // namespace shard
