#include "cli/diagnostics/diagnostics.h"
#include "cli/init/layout_choice.h"
#include "cli/init/new_files.h"
#include "cli/init/starter.h"
#include "cli/inputs/candidates.h"
#include "cli/inputs/output.h"
#include "cli/report/sweep_report.h"
#include "cli/summary/verdict.h"
#include "cli/terminal/paint.h"
#include "cli/terminal/repository.h"
#include "planner/read/hardware.h"
#include "planner/read/include.h"
#include "plans/base/parse_number.h"
#include "plans/base/units.h"
#include "plans/json/json_text.h"

#include <fmt/format.h>

#include <algorithm>

#include <ostream>

namespace shard {

namespace {

constexpr std::string_view names_file = "huggingface.yaml";
constexpr i64 most_devices = 65536; // of which layouts are compared
constexpr size_t shown = 5;         // candidates

constexpr std::string_view workflow = ".github/workflows/shardc.yml";

// The folder as the repository calls it; empty at its root, and outside of one.
std::string folder_in_repository(Env& env, const std::string& folder) {
    const Repository repository(env.files);
    if (!repository.root()) return {};
    const std::string inside = repository.path(path_in(folder, "shardc.yaml"));
    const size_t slash = inside.rfind('/');
    const bool is_below = slash != std::string::npos && !inside.starts_with("../") && !inside.starts_with('/');
    return is_below ? inside.substr(0, slash) : std::string();
}

// What is written without --from: a folder where `shardc check` passes.
std::vector<StartingFile> starter_files(const std::string& folder, const std::string& checked) {
    std::vector<StartingFile> files;
    for (const EmbeddedText& entry : embedded_starter()) {
        std::string text(entry.text);
        const bool is_workflow = entry.name == "workflow";
        if (is_workflow && !checked.empty())
            text += fmt::format("        with: {{working-directory: {}}}\n", json_string(checked));
        files.push_back(
            {path_in(folder, is_workflow ? std::string(workflow) : std::string(entry.name) + ".yaml"), text});
    }
    return files;
}

// E0701 unless it is a whole number from 1; 0 if it is not given.
i64 read_size(const Arguments& arguments, std::string_view option, i64 most, Diagnostics& diagnostics) {
    if (!arguments.has(option)) return 0;
    const std::optional<i64> value = parse_number<i64>(arguments.string(option));
    if (value && *value >= 1 && *value <= most) return *value;
    diagnostics.error(
        "E0701", {},
        fmt::format("{} takes a whole number from 1 to {}, not '{}'", option, most, arguments.string(option)));
    return 0;
}

Sweep table_of(const std::vector<LayoutCandidate>& candidates) {
    Sweep sweep{{"layout"}, {}, Align::left};
    for (const LayoutCandidate& candidate : candidates) {
        if (sweep.rows.size() == shown || !candidate.plan) break;
        SweepRow& row = sweep.rows.emplace_back();
        row.values = {candidate_name(candidate)};
        row.plan = candidate.plan;
        row.is_good = candidate.fits;
        const bool bounded = candidate.plan->report.memory.capacity > 0;
        row.verdict = !bounded ? "ok" : candidate.fits ? "fits" : "does not fit";
    }
    return sweep;
}

std::string_view step_of(const LayoutAsked& asked) { return asked.mode == "train" ? "training step" : "forward pass"; }

// The layout's file: the best candidate, and why it is that.
std::string chosen_text(const std::vector<LayoutCandidate>& candidates, const LayoutAsked& asked) {
    const LayoutCandidate& best = candidates.front();
    std::string why = best.fits ? fmt::format("the fastest of {} layouts", candidates.size())
                                : fmt::format("none of {} layouts fits; this one needs least", candidates.size());
    return fmt::format("# {}: {} in a {}, by `shardc init`.\n{}", counted(asked.devices, "device"), why, step_of(asked),
                       best.text);
}

int init_from(const Arguments& arguments, Env& env, Sources& sources, Diagnostics& diagnostics) {
    LayoutAsked asked;
    asked.devices = read_size(arguments, "--devices", most_devices, diagnostics);
    asked.hardware = arguments.string("--hardware");
    FamilyRequest request;
    request.batch = read_size(arguments, "--batch", i64{1} << 32, diagnostics);
    request.length = read_size(arguments, "--length", i64{1} << 32, diagnostics);
    request.names_file = names_file;
    if (request.batch == 0) request.batch = asked.devices;
    const std::vector<std::string> known = builtin_hardware();
    if (std::find(known.begin(), known.end(), asked.hardware) == known.end())
        return unknown_name(env, "hardware", asked.hardware, {known.begin(), known.end()});
    if (diagnostics.has_error()) return exit_usage;

    const std::optional<int> file = load_source(env, sources, arguments.string("--from"), diagnostics);
    const std::optional<HfConfig> config = file ? HfConfig::parse(sources, *file, diagnostics) : std::nullopt;
    const std::optional<FamilyTexts> texts = config ? make_family_model(*config, request) : std::nullopt;
    if (!texts) return exit_usage;
    asked.axes = texts->axes;
    asked.settings = texts->settings;
    asked.mode = texts->trains ? "train" : "forward";
    std::string set; // for the command line
    for (const std::string& setting : texts->settings) set += " --set " + setting;

    const std::string folder = arguments.string("--output");
    LoadedModel model;
    model.file = model.sources.add(path_in(folder, "model.yaml"), texts->model);
    model.sources.add(path_in(folder, std::string(names_file)), texts->names);
    load_includes(model.sources, *model.file);
    const std::vector<LayoutCandidate> candidates = planned_candidates(model, asked, [&env](size_t done, size_t all) {
        if (env.err_terminal) env.err << fmt::format("{}{} of {} layouts planned", clear_line, done, all) << std::flush;
    });
    if (env.err_terminal) env.err << clear_line << std::flush;
    const LayoutCandidate& best = candidates.front();
    if (!best.plan) {
        diagnostics.error("E0808", {*file, 1, 1, 1}, "no layout of the model of this config can be planned")
            .note(best.problem)
            .help("give another number of --devices, or another --batch");
        return exit_usage;
    }
    if (!best.fits)
        diagnostics
            .warning("W0802", {},
                     fmt::format("no layout fits on {} of {}", counted(asked.devices, "device"), asked.hardware))
            .help("more --devices, or a smaller --batch or --length; the layout written is the one that needs least");
    if (!write_new_files(env,
                         {{path_in(folder, "model.yaml"), texts->model},
                          {path_in(folder, "layout.yaml"), chosen_text(candidates, asked)},
                          {path_in(folder, std::string(names_file)), texts->names}},
                         arguments.flag("--force"), diagnostics))
        return exit_usage;

    const ParamsTotal params = params_total(best.plan->report);
    const Paint paint{env.out_color, env.width};
    env.out << fmt::format("\n{}: {} parameters ({})\n\n", best.plan->model, grouped(params.count),
                           human_bytes(params.bytes));
    env.out << fmt::format("The best of {} layouts of {}, {}, for a {}{}\n", candidates.size(),
                           counted(asked.devices, "device"), asked.hardware, step_of(asked),
                           set.empty() ? "" : " with" + set);
    env.out << sweep_text(table_of(candidates), paint);
    env.out << fmt::format("\nNext: shardc plan {} {} --mode {}{}\n", path_in(folder, "model.yaml"),
                           path_in(folder, "layout.yaml"), asked.mode, set);
    return exit_code(diagnostics);
}

int init_starter(const Arguments& arguments, Env& env, Diagnostics& diagnostics) {
    const std::string folder = arguments.string("--output");
    const std::string below = folder_in_repository(env, folder);
    const std::vector<StartingFile> files = starter_files(folder, below);
    if (!write_new_files(env, files, arguments.flag("--force"), diagnostics)) return exit_usage;
    env.out << fmt::format("\nNext: {}shardc check\n", folder == "." ? "" : fmt::format("cd {} && ", folder));
    env.out << fmt::format("In CI: put the account that has the action in place of OWNER in {}\n",
                           path_in(folder, std::string(workflow)));
    if (!below.empty())
        env.out << "       and move .github to the root of the repository, where GitHub looks for workflows\n";
    return exit_clean;
}

int run(const Arguments& arguments, Env& env) {
    Sources sources;
    Diagnostics diagnostics;
    const int code = arguments.has("--from") ? init_from(arguments, env, sources, diagnostics)
                                             : init_starter(arguments, env, diagnostics);
    print_diagnostics(env, sources, diagnostics.all());
    return code;
}

} // namespace

const CommandDef& command_init() {
    static const CommandDef def = {
        .name = "init",
        .usage = "[--from config.json] [-o DIR] [--devices N] [--hardware NAME]",
        .summary =
            "files to begin with: a small example, or the model of a Hugging Face config.json and a layout for it",
        .doc =
            "Example:\n"
            "  shardc init                                          a small model, layout, policy, shardc.yaml and CI\n"
            "  shardc init --from config.json --devices 64 --hardware h100\n"
            "  shardc run model.yaml layout.yaml --restore DIR      with the parameters of a checkpoint of it\n"
            "Nothing that is there is written over, unless --force is given.",
        .options = {{.name = "--from",
                     .value = "FILE",
                     .doc = "the config.json of a model of Hugging Face's transformers",
                     .file = FileUse::read,
                     .dash = true},
                    {.name = "--output",
                     .value = "DIR",
                     .doc = "the folder to write into; it is made",
                     .fallback = ".",
                     .short_name = "-o",
                     .file = FileUse::other},
                    {.name = "--devices", .value = "N", .with = "--from", .doc = "of the layout", .fallback = "8"},
                    {.name = "--hardware",
                     .value = "NAME",
                     .with = "--from",
                     .doc = "what they are: shardc list hardware",
                     .fallback = "h100",
                     .candidates = [](const Arguments&, Env&) { return registry_candidates("hardware"); }},
                    {.name = "--batch",
                     .value = "N",
                     .with = "--from",
                     .doc = "sequences in a step; as many as devices unless given"},
                    {.name = "--length",
                     .value = "N",
                     .with = "--from",
                     .doc = "of a sequence; what the model sees, at most 8192, unless given"},
                    {.name = "--force", .doc = "write over files that are there"}},
        .order = 5,
        .run = run,
    };
    return def;
}

} // namespace shard
