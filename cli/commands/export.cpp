#include "cli/diagnostics/diagnostics.h"
#include "cli/inputs/inputs.h"
#include "cli/inputs/output.h"
#include "cli/inputs/settings.h"
#include "cli/terminal/exit_code.h"
#include "exporter/target/target.h"

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

int run(const Arguments& arguments, Env& env) {
    int code = exit_clean;
    const TargetDef& target = *find_target(arguments.string("--to"));
    Diagnostics diagnostics;
    if (arguments.flag("--global") && target.write_global == nullptr) {
        diagnostics.error("E0701", {}, fmt::format("--to {} writes only what the plan says", target.name))
            .help("--global is for --to stablehlo, of which XLA makes collectives itself");
        print_diagnostics(env, Sources(), diagnostics.all());
        return exit_usage;
    }
    const std::optional<PlanSource> source = load_one_plan(env, arguments, "export", code);
    if (!source) return code;
    const std::optional<std::string> text = arguments.flag("--global")
                                                ? write_global(target, *source->plan, diagnostics, env)
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
               "  shardc export plan.json --to stablehlo --global   for XLA's own partitioner, to compare with",
        .options = {{.name = "FILE",
                     .doc = "a plan file, or a model and a layout; - for stdin",
                     .required = true,
                     .many = true,
                     .file = FileUse::read,
                     .dash = true},
                    target_option(),
                    {.name = "--global",
                     .doc = "the shardings of inputs and outputs alone, without the plan's collectives"},
                    mode_option(),
                    set_option(),
                    output_option()},
        .order = 5,
        .run = run,
    };
    return def;
}

} // namespace shard
