#include "cli/diagnostics/diagnostics.h"
#include "cli/inputs/inputs.h"
#include "cli/inputs/output.h"
#include "cli/terminal/exit_code.h"
#include "exporter/target/target.h"

namespace shard {

namespace {

int run(const Arguments& arguments, Env& env) {
    int code = exit_clean;
    const std::optional<PlanSource> source = load_one_plan(env, arguments, "export", code);
    if (!source) return code;
    Diagnostics diagnostics;
    const std::optional<std::string> text = find_target(arguments.string("--to"))->write(*source->plan, diagnostics);
    print_diagnostics(env, *source->sources, diagnostics.all());
    // What breaks a policy is for plan and check.
    return text ? write_payload(env, arguments, *text, exit_clean) : exit_code(diagnostics);
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
               "  shardc export plan.json --to stablehlo --output step.mlir",
        .options = {{.name = "FILE",
                     .doc = "a plan file, or a model and a layout; - for stdin",
                     .required = true,
                     .many = true,
                     .file = FileUse::read,
                     .dash = true},
                    target_option(),
                    mode_option(),
                    output_option()},
        .order = 5,
        .run = run,
    };
    return def;
}

} // namespace shard
