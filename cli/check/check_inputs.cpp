#include "cli/check/check_inputs.h"

#include "cli/check/config.h"
#include "cli/check/path_pattern.h"
#include "cli/terminal/repository.h"
#include "plans/base/printable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>

namespace shard {

namespace {

// A baseline that is not there yet is written by the command itself.
Diagnostics with_remedy(const Diagnostics& loading) {
    Diagnostics result;
    for (Diagnostic diagnostic : loading.all()) {
        if (diagnostic.code == "E0702") diagnostic.help = "the first time: the same command with --accept writes it";
        result.add(std::move(diagnostic));
    }
    return result;
}

// Files by path. What is wrong with a file that many layouts are checked with is said of each of them, or, of what is
// needed before anything is checked, as a subject of its own.
class Reader {
public:
    Reader(Env& env, CheckInputs& inputs) : env_(env), inputs_(inputs) {}

    std::shared_ptr<const LoadedModel> model(const std::string& path) {
        std::shared_ptr<const LoadedModel>& held = models_[path];
        if (!held) held = std::make_shared<LoadedModel>(load_model_text(env_, path));
        return held;
    }
    std::shared_ptr<const LoadedText> text(const std::string& path) {
        std::shared_ptr<const LoadedText>& held = texts_[path];
        if (!held) held = std::make_shared<LoadedText>(load_text(env_, path));
        return held;
    }
    std::shared_ptr<const Baseline> baseline(const std::string& path) {
        const auto [at, is_new] = baselines_.try_emplace(path);
        if (!is_new) return at->second;
        const std::shared_ptr<const LoadedText> file = text(path);
        Sources sources;
        Diagnostics problems = with_remedy(file->problems);
        sources.add(file->name, file->text);
        if (!problems.has_error())
            if (std::optional<Baseline> read = read_baseline(sources, 0, problems))
                at->second = std::make_shared<Baseline>(std::move(*read));
        if (problems.has_error()) refuse(printable(path), std::move(sources), problems);
        return at->second;
    }
    void refuse(const std::string& name, Sources sources, const Diagnostics& problems) {
        Checked& checked = inputs_.problems.emplace_back();
        *checked.sources = std::move(sources);
        checked.subject.name = name;
        checked.subject.layout = name;
        checked.subject.sources = checked.sources.get();
        checked.subject.diagnostics = problems.all();
    }

private:
    Env& env_;
    CheckInputs& inputs_;
    std::map<std::string, std::shared_ptr<const LoadedModel>> models_;
    std::map<std::string, std::shared_ptr<const LoadedText>> texts_;
    std::map<std::string, std::shared_ptr<const Baseline>> baselines_;
};

// What options say of all tasks.
struct Overrides {
    std::vector<TaskPolicy> policies;
    std::optional<std::string> mode;
    std::vector<std::string> settings;
    bool strict = false;
    std::shared_ptr<const Baseline> baseline;
    std::string accept_in;
    std::optional<Tolerance> tolerance;
};

Overrides overrides_of(const Arguments& arguments, Reader& reader) {
    Overrides asked;
    if (arguments.has("--policy")) asked.policies.push_back({reader.text(arguments.string("--policy"))});
    if (arguments.given("--mode")) asked.mode = arguments.string("--mode");
    asked.settings = arguments.strings("--set");
    asked.strict = arguments.flag("--strict");
    if (arguments.has("--baseline") && arguments.flag("--accept"))
        asked.accept_in = arguments.string("--baseline");
    else if (arguments.has("--baseline"))
        asked.baseline = reader.baseline(arguments.string("--baseline"));
    if (arguments.has("--tolerance")) {
        ToleranceMistake mistake;
        asked.tolerance = parse_tolerance(arguments.string("--tolerance"), mistake);
        Diagnostics problems;
        if (!asked.tolerance) problems.error("E0701", {}, "--tolerance: " + mistake.message).help(mistake.help);
        if (!asked.tolerance) reader.refuse("--tolerance", {}, problems);
    }
    return asked;
}

std::string path_of(const std::string& setting) { return setting.substr(0, setting.find('=')); }

void put(const Overrides& asked, CheckTask& task) {
    task.policies.insert(task.policies.end(), asked.policies.begin(), asked.policies.end());
    if (asked.mode) task.asked.mode = *asked.mode;
    for (const std::string& setting : asked.settings)
        std::erase_if(task.asked.settings,
                      [&](const std::string& other) { return path_of(other) == path_of(setting); });
    task.asked.settings.insert(task.asked.settings.end(), asked.settings.begin(), asked.settings.end());
    task.strict = task.strict || asked.strict;
    if (asked.baseline) task.baseline = asked.baseline;
    if (!asked.accept_in.empty()) task.accept_in = asked.accept_in;
    if (asked.tolerance) task.tolerance = *asked.tolerance;
}

// Nothing is compared with: it would be of no effect.
void refuse_idle_tolerance(const Arguments& arguments, CheckInputs& inputs, Reader& reader) {
    const auto compares = [](const CheckTask& task) { return task.baseline || !task.accept_in.empty(); };
    if (!arguments.has("--tolerance") || !inputs.problems.empty() || inputs.tasks.empty() ||
        std::any_of(inputs.tasks.begin(), inputs.tasks.end(), compares))
        return;
    Diagnostics problems;
    problems.error("E0701", {}, "--tolerance is of a comparison, and there is no baseline")
        .help("name one: --baseline FILE; with --accept it is written");
    reader.refuse("--tolerance", {}, problems);
    inputs.tasks.clear();
}

// Stdin is read once.
bool both_from_stdin(const Arguments& arguments, Reader& reader) {
    std::vector<std::string> words = arguments.strings("LAYOUT");
    for (const std::string_view option : {"MODEL", "--policy", "--baseline"})
        for (const std::string& value : arguments.strings(option)) words.push_back(value);
    if (std::count(words.begin(), words.end(), "-") < 2) return false;
    Diagnostics problems;
    problems.error("E0701", {}, "the model and the layout cannot both come from stdin, nor can two other files")
        .help("name a file for one of them");
    reader.refuse("-", {}, problems);
    return true;
}

// The configuration of this folder, or of the nearest above it that is in the same repository: "../../shardc.yaml".
std::string find_config(Env& env) {
    const Repository repository(env.files);
    for (const std::string& prefix : repository.folders()) {
        const std::vector<std::string> names =
            env.files.list(prefix.empty() ? "." : prefix.substr(0, prefix.size() - 1));
        if (std::binary_search(names.begin(), names.end(), config_name)) return prefix + std::string(config_name);
    }
    return {};
}

// Paths of a configuration are relative to it.
class ConfigPaths {
public:
    ConfigPaths(Files& files, const std::string& config) : files_(files) {
        folder_ = config.substr(0, config.rfind('/') + 1); // npos + 1 is 0
    }
    std::string full(const std::string& path) const { return path.starts_with('/') ? path : folder_ + path; }
    // As written: the names of results are the same from wherever it is asked.
    std::string shown(const std::string& full) const {
        return printable(full.starts_with(folder_) ? full.substr(folder_.size()) : full);
    }
    // E0712 for a pattern that no file is like.
    std::vector<std::string> matching(const ConfiguredPath& path, Diagnostics& diagnostics) const {
        std::vector<std::string> found = matching_paths(files_, full(path.path));
        if (found.empty())
            diagnostics.error("E0712", path.span, fmt::format("no file is like '{}'", path.path))
                .help("patterns are relative to the configuration; * is any part of a name, ** any folders");
        return found;
    }

private:
    Files& files_;
    std::string folder_;
};

// A file that could not be read is a mistake of the line that names it. False if it is one.
bool was_read(const Diagnostics& loading, const Span& named, Diagnostics& diagnostics) {
    bool is_read = true;
    for (Diagnostic diagnostic : loading.all()) {
        const bool has_place = !diagnostic.labels.empty() && diagnostic.labels.front().span.known();
        if (diagnostic.code != "E0702" || has_place) continue; // what it includes is named elsewhere
        diagnostic.labels = {{named, ""}};
        diagnostics.add(std::move(diagnostic));
        is_read = false;
    }
    return is_read;
}

// Several models name the same layouts.
Diagnostics each_once(const Diagnostics& diagnostics) {
    Diagnostics result;
    for (const Diagnostic& diagnostic : diagnostics.all())
        if (std::find(result.all().begin(), result.all().end(), diagnostic) == result.all().end())
            result.add(diagnostic);
    return result;
}

// Once for an entry of models, however many layouts it has.
void report_twice(const std::vector<std::pair<Span, std::string>>& twice, Diagnostics& diagnostics) {
    for (size_t i = 0; i < twice.size();) {
        const auto& [span, name] = twice[i];
        const size_t begin = i;
        while (i < twice.size() && twice[i].first == span) ++i;
        DiagnosticBuilder error = diagnostics.error("E0712", span, fmt::format("two checks are called '{}'", name));
        if (i - begin > 1) error.note(fmt::format("so are {} more of this entry", i - begin - 1));
        error.help("give an entry of models a name: {name: small, model: ...}");
    }
}

// An entry for each model that a pattern finds.
std::vector<ConfiguredModel> models_of(const CheckConfig& config, const ConfigPaths& paths, Diagnostics& diagnostics) {
    std::vector<ConfiguredModel> models;
    for (const ConfiguredModel& entry : config.models)
        for (const std::string& found : paths.matching(entry.model, diagnostics)) {
            ConfiguredModel& one = models.emplace_back(entry);
            one.model.path = paths.shown(found);
            if (entry.name == entry.model.path) one.name = one.model.path;
        }
    return models;
}

// W0702 for layouts that were accepted and are checked no more: deleted, or found by no pattern.
void warn_of_gone(const Baseline& baseline, const std::vector<CheckTask>& tasks, Span place, Diagnostics& problems) {
    std::set<std::string> gone;
    for (const auto& [as, figures] : baseline.figures) {
        const auto is_it = [&as = as](const CheckTask& task) {
            return task.as.model == as.model && task.as.layout == as.layout;
        };
        if (!baseline.is_plan && std::none_of(tasks.begin(), tasks.end(), is_it)) gone.insert(printable(as.layout));
    }
    if (gone.empty()) return;
    problems
        .warning("W0702", place,
                 fmt::format("{} has figures of {}, which {} not checked", baseline.path, fmt::join(gone, ", "),
                             gone.size() == 1 ? "is" : "are"))
        .help("check them again; or, if they are gone for good, `shardc check --accept` writes the baseline without "
              "them");
}

} // namespace

CheckInputs inputs_of_words(Env& env, const Arguments& arguments) {
    CheckInputs inputs;
    Reader reader(env, inputs);
    if (both_from_stdin(arguments, reader)) return inputs;
    const std::vector<std::string> layouts = arguments.strings("LAYOUT");
    const Overrides asked = overrides_of(arguments, reader);
    if (layouts.empty()) {
        Diagnostics problems;
        problems.error("E0701", {}, "a model is checked with layouts, and none is given")
            .help("usage: shardc check MODEL LAYOUT..., or without both what shardc.yaml says");
        reader.refuse(printable(arguments.string("MODEL")), {}, problems);
    }
    if (!inputs.problems.empty()) return inputs;
    const std::shared_ptr<const LoadedModel> model = reader.model(arguments.string("MODEL"));
    for (const std::string& layout : layouts) {
        CheckTask& task = inputs.tasks.emplace_back();
        task.name = printable(layout);
        task.model = model;
        task.layout = reader.text(layout);
        put(asked, task);
        task.as = {plain_path(arguments.string("MODEL")), plain_path(layout), task.asked.mode};
    }
    refuse_idle_tolerance(arguments, inputs, reader);
    return inputs;
}

CheckInputs inputs_of_config(Env& env, const Arguments& arguments) {
    CheckInputs inputs;
    Reader reader(env, inputs);
    Diagnostics problems;
    const std::string path = arguments.has("--config") ? arguments.string("--config") : find_config(env);
    if (path.empty()) {
        problems.error("E0713", {}, "nothing is named, and there is no shardc.yaml here or above")
            .help("name files, shardc check MODEL LAYOUT..., or write shardc.yaml: `shardc schema config`");
        reader.refuse(std::string(config_name), {}, problems);
        return inputs;
    }
    const std::shared_ptr<const LoadedText> file = reader.text(path);
    Sources sources;
    sources.add(file->name, file->text);
    problems = file->problems;
    const std::optional<CheckConfig> config = problems.has_error() ? std::nullopt : read_config(sources, 0, problems);
    const Overrides asked = overrides_of(arguments, reader);
    const ConfigPaths paths(env.files, path);
    std::set<std::string> names;
    std::vector<std::pair<Span, std::string>> twice; // checks that another has the name of, by their entry
    std::vector<std::pair<std::shared_ptr<const Baseline>, Span>> baselines; // that layouts are compared with
    const std::vector<ConfiguredModel> models =
        config ? models_of(*config, paths, problems) : std::vector<ConfiguredModel>{};
    for (const ConfiguredModel& model : models) {
        if (model.layouts.empty())
            problems.error("E0712", model.model.span, fmt::format("{} has no layouts", model.name))
                .help("write layouts: [layouts/*.yaml], of this model or of all");
        CheckTask task;
        task.model = reader.model(paths.full(model.model.path));
        if (!was_read(task.model->problems, model.model.span, problems)) continue;
        for (const ConfiguredPolicy& policy : model.policies) {
            if (policy.read)
                task.policies.push_back({file, policy.read});
            else
                for (const std::string& found : paths.matching(policy.file, problems)) {
                    task.policies.push_back({reader.text(found), {}});
                    was_read(task.policies.back().file->problems, policy.file.span, problems);
                }
        }
        task.asked = {model.mode, model.settings};
        task.strict = model.strict;
        if (model.baseline && arguments.flag("--accept"))
            task.accept_in = paths.full(model.baseline->path);
        else if (model.baseline && was_read(with_remedy(reader.text(paths.full(model.baseline->path))->problems),
                                            model.baseline->span, problems))
            task.baseline = reader.baseline(paths.full(model.baseline->path));
        task.tolerance = model.tolerance;
        put(asked, task);
        const auto is_it = [&task](const auto& known) { return known.first == task.baseline; };
        if (task.baseline && std::none_of(baselines.begin(), baselines.end(), is_it))
            baselines.emplace_back(task.baseline, asked.baseline ? Span{} : model.baseline->span);
        std::set<std::string> taken; // a layout that several patterns find is one
        for (const ConfiguredPath& layout : model.layouts)
            for (const std::string& found : paths.matching(layout, problems)) {
                if (!taken.insert(plain_path(found)).second) continue;
                CheckTask& one = inputs.tasks.emplace_back(task);
                one.layout = reader.text(found);
                was_read(one.layout->problems, layout.span, problems);
                one.name = plain_path(paths.shown(found));
                if (models.size() > 1) one.name = printable(model.name) + " + " + one.name;
                one.as = {plain_path(model.name), plain_path(paths.shown(found)), one.asked.mode};
                if (!names.insert(one.name).second) twice.emplace_back(model.model.span, one.name);
            }
    }
    report_twice(twice, problems);
    if (problems.has_error()) reader.refuse(printable(path), std::move(sources), each_once(problems));
    if (!inputs.problems.empty()) inputs.tasks.clear();
    refuse_idle_tolerance(arguments, inputs, reader);
    if (inputs.problems.empty() && !inputs.tasks.empty()) {
        for (const auto& [baseline, place] : baselines) warn_of_gone(*baseline, inputs.tasks, place, problems);
        if (!problems.all().empty()) reader.refuse(printable(path), std::move(sources), problems);
        const bool strict = std::any_of(inputs.tasks.begin(), inputs.tasks.end(), std::mem_fn(&CheckTask::strict));
        for (Checked& checked : inputs.problems)
            for (Diagnostic& diagnostic : checked.subject.diagnostics) diagnostic.finding = strict;
    }
    return inputs;
}

} // namespace shard
