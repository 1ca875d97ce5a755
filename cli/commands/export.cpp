#include "cli/diagnostics/diagnostics.h"
#include "cli/inputs/inputs.h"
#include "cli/inputs/job_names.h"
#include "cli/inputs/output.h"
#include "cli/inputs/settings.h"
#include "cli/terminal/exit_code.h"
#include "exporter/target/target.h"
#include "plans/base/printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// nullopt after an error, which has been printed.
std::optional<std::string> write_global(const TargetDef& target, const Plan& plan, Diagnostics& diagnostics, Env& env) {
    const Compiled alone = compile_reference(plan);
    if (alone.plan() != nullptr) return target.write_global(plan, *alone.plan(), diagnostics);
    print_diagnostics(env, *alone.sources, alone.diagnostics().all());
    return std::nullopt;
}

// --output is a folder, which is made if it is missing. The number of files, nullopt after an error.
std::optional<int> write_folder(const TargetDef& target, const Plan& plan, const std::string& folder,
                                Diagnostics& diagnostics, Env& env) {
    std::string problem;
    if (!env.files.make_folders(folder, problem)) {
        diagnostics.error("E0703", {}, fmt::format("cannot make the folder '{}': {}", folder, problem));
        return std::nullopt;
    }
    int files = 0;
    const FileSink sink = [&](const std::string& name, std::string_view bytes) {
        ++files;
        return write_file(env, fmt::format("{}/{}", folder, name), bytes);
    };
    if (!target.write_files(plan, sink, diagnostics)) return std::nullopt;
    return files;
}

// nullopt after an error, which has been printed.
std::optional<std::string> write_named(const TargetDef& target, const Plan& plan, const std::string& names,
                                       Diagnostics& diagnostics, Env& env) {
    Sources sources;
    Diagnostics problems;
    const std::optional<int> file = load_source(env, sources, names, problems);
    const std::optional<JobNames> read = file ? read_job_names(sources, *file, plan, problems) : std::nullopt;
    print_diagnostics(env, sources, problems.all());
    return read ? target.write_named(plan, *read, diagnostics) : std::nullopt;
}

int run(const Arguments& arguments, Env& env) {
    int code = exit_clean;
    const TargetDef& target = *find_target(arguments.string("--to"));
    Diagnostics diagnostics;
    const bool is_folder = target.write_files != nullptr;
    if (is_folder && (!arguments.has("--output") || arguments.string("--output") == "-")) {
        diagnostics.error("E0701", {}, fmt::format("--to {} writes a folder", target.name))
            .help("say which with --output DIR");
        print_diagnostics(env, Sources(), diagnostics.all());
        return exit_usage;
    }
    if (arguments.flag("--global") && target.write_global == nullptr) {
        diagnostics.error("E0701", {}, fmt::format("--to {} writes only what the plan says", target.name))
            .help("--global is for --to stablehlo, of which XLA makes collectives itself");
        print_diagnostics(env, Sources(), diagnostics.all());
        return exit_usage;
    }
    if (arguments.has("--names") && target.write_named == nullptr) {
        diagnostics.error("E0701", {}, fmt::format("--to {} has the plan's names", target.name))
            .help("--names is for --to specs, which a job looks its own names up in");
        print_diagnostics(env, Sources(), diagnostics.all());
        return exit_usage;
    }
    const std::optional<PlanSource> source = load_one_plan(env, arguments, "export", code);
    if (!source) return code;
    if (is_folder) {
        const std::string folder = arguments.string("--output");
        const std::optional<int> files = write_folder(target, *source->plan, folder, diagnostics, env);
        print_diagnostics(env, *source->sources, diagnostics.all());
        if (!files) return exit_usage;
        env.err << fmt::format("wrote {} files to {}\n", *files, printable(folder));
        return exit_clean;
    }
    const std::optional<std::string> text =
        arguments.flag("--global") ? write_global(target, *source->plan, diagnostics, env)
        : arguments.has("--names") ? write_named(target, *source->plan, arguments.string("--names"), diagnostics, env)
                                   : target.write(*source->plan, diagnostics);
    print_diagnostics(env, *source->sources, diagnostics.all());
    // What breaks a policy is for plan and check.
    return text ? write_payload(env, arguments, *text, exit_clean) : std::max<int>(exit_code(diagnostics), exit_usage);
}

OptionDef target_option() {
    std::vector<std::string_view> names;
    for (const TargetDef* target : all_targets()) names.push_back(target->name);
    return {.name = "--to",
            .value = "TARGET",
            .doc = "what to write (shardc list targets)",
            .choices = std::move(names),
            .required = true};
}

} // namespace

const CommandDef& command_export() {
    static const CommandDef def = {
        .name = "export",
        .usage = "PLAN --to TARGET | MODEL LAYOUT --to TARGET",
        .summary = "a plan for other engines: its shardings, or its program, in Python or StableHLO",
        .doc = "Example:\n"
               "  shardc export plan.json --to specs --output specs.py\n"
               "  shardc export model.yaml layout.yaml --mode train --to jax | python\n"
               "  shardc export plan.json --to stablehlo --output step.mlir\n"
               "  shardc export plan.json --to stablehlo --global   for XLA's own partitioner, to compare with\n"
               "  shardc export plan.json --to chakra --output traces   for ASTRA-sim",
        .options = {{.name = "FILE",
                     .doc = "a plan file, or a model and a layout; - for stdin",
                     .required = true,
                     .many = true,
                     .file = FileUse::read,
                     .dash = true},
                    target_option(),
                    {.name = "--global",
                     .doc = "the shardings of inputs and outputs alone, without the plan's collectives"},
                    {.name = "--names",
                     .value = "FILE",
                     .doc = "what the job calls the arrays of a model that was imported, as `import --names` writes it",
                     .file = FileUse::read},
                    mode_option(),
                    set_option(),
                    output_option()},
        .order = 5,
        .run = run,
    };
    return def;
}

} // namespace shard
