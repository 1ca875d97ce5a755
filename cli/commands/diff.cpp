#include "cli/command/format.h"
#include "cli/diagnostics/diagnostics.h"
#include "cli/diagnostics/subjects_text.h"
#include "cli/inputs/inputs.h"
#include "cli/inputs/model_source.h"
#include "cli/inputs/output.h"
#include "cli/inputs/settings.h"
#include "cli/report/diff_report.h"
#include "cli/terminal/exit_code.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace shard {

namespace {

// The part of each name that tells them apart: without the folders that all share, and without ".yaml".
std::vector<std::string> short_names(const std::vector<PlanSource>& sources) {
    std::vector<std::string> names;
    for (const PlanSource& source : sources) names.push_back(source.name);
    size_t common = names.front().rfind('/') + 1; // 0 if there is no folder
    for (const std::string& name : names)
        while (common > 0 && name.compare(0, common, names.front(), 0, common) != 0)
            common = common < 2 ? 0 : names.front().rfind('/', common - 2) + 1;
    if (common == 1) common = 0; // the root is no folder to leave out
    for (std::string& name : names) {
        name.erase(0, common);
        size_t dot = name.rfind('.');
        if (dot != std::string::npos && dot > 0 && name.find('/', dot) == std::string::npos) name.erase(dot);
    }
    return names;
}

int run(const Arguments& arguments, Env& env) {
    std::vector<std::string> paths = arguments.strings("FILE");
    std::vector<PlanSource> sources = load_plans(env, paths, plan_arguments(arguments));
    int code = exit_clean;
    const bool of_layouts = sources.size() < paths.size(); // beside a model
    std::vector<Subject> said; // a mistake in the model is the same for every layout, and is said once
    for (const PlanSource& source : sources) {
        if (exit_code(source.diagnostics) == exit_usage) code = exit_usage;
        const std::vector<Diagnostic>& all = source.diagnostics.all();
        if (!source.plan) {
            said.push_back({of_layouts ? source.name : "", {}, source.sources.get(), all});
            continue;
        }
        Subject noted{"", {}, source.sources.get(), {}};
        std::copy_if(all.begin(), all.end(), std::back_inserter(noted.diagnostics), is_of_import);
        if (!noted.diagnostics.empty()) said.push_back(std::move(noted));
    }
    env.err << findings_text(said, Paint{env.err_color, env.width});
    if (code != exit_clean) return code;
    if (sources.size() < 2)
        return refuse(env, "diff compares at least two plans",
                      "usage: shardc diff MODEL LAYOUT LAYOUT..., or shardc diff PLAN PLAN...");
    std::vector<std::string> names = short_names(sources);
    std::vector<NamedPlan> plans;
    for (size_t i = 0; i < sources.size(); ++i) plans.push_back({names[i], &*sources[i].plan});
    const Paint paint = payload_paint(env, arguments);
    const FormatDef& format = chosen_format(arguments);
    const std::string text = format.diff(plans, arguments.flag("--all"), paint);
    if (const std::string_view warning = comparison_warning(plans); format.only_figures && !warning.empty())
        say(env, fmt::format("warning: {}", warning));
    if (arguments.flag("--exit-code") && plans_differ(plans)) code = exit_findings;
    return write_payload(env, arguments, text, code);
}

} // namespace

const CommandDef& command_diff() {
    static const CommandDef def = {
        .name = "diff",
        .usage = "MODEL LAYOUT LAYOUT... | PLAN PLAN...",
        .summary = "compare layouts side by side: time, memory, bytes, collectives, shardings",
        .doc = "Example:\n"
               "  shardc diff model.yaml layouts/*.yaml\n"
               "  shardc diff baseline.json new.json --exit-code       exit code 1 if they differ",
        .options = {{.name = "FILE",
                     .doc = "a model and its layouts, or plan files; the first plan is the base",
                     .required = true,
                     .many = true,
                     .file = FileUse::read,
                     .dash = true},
                    {.name = "--exit-code", .doc = "exit with 1 if the plans differ"},
                    {.name = "--all", .doc = "intermediate values too"},
                    mode_option(),
                    set_option(),
                    format_option(formats_for(&FormatDef::diff)),
                    output_option()},
        .order = 5,
        .run = run,
    };
    return def;
}

} // namespace shard
