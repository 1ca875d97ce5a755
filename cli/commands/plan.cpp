#include "cli/command/format.h"
#include "cli/diagnostics/diagnostics.h"
#include "cli/inputs/inputs.h"
#include "cli/inputs/output.h"
#include "cli/report/report.h"
#include "cli/terminal/exit_code.h"
#include "cli/terminal/table.h"
#include "cli/trace/step_trace.h"
#include "planner/explain/remedies.h"
#include "planner/pipeline/passes.h"
#include "plans/file/plan_json.h"

#include <fmt/format.h>

namespace shard {

namespace {

void say_seconds(Env& env, const Compilation& compilation) {
    Table table({{"pass"}, {"ms", Align::right}});
    double sum = 0;
    const std::span<const PassDef> passes = all_passes();
    for (size_t i = 0; i < compilation.seconds.size(); ++i) {
        table.add({std::string(passes[i].name), fmt::format("{:.3f}", compilation.seconds[i] * 1e3)});
        sum += compilation.seconds[i];
    }
    table.add({"all", fmt::format("{:.3f}", sum * 1e3)});
    env.err << table.render({}, "");
}

// In the report alone: the plan file holds what the passes made.
void add_remedies(Compiled& compiled) {
    std::vector<std::string> remedies = find_remedies(compiled.compilation, *compiled.sources, compiled.request);
    std::vector<CollectiveReport>& collectives = compiled.compilation.plan->report.collectives;
    for (size_t i = 0; i < collectives.size(); ++i)
        if (collectives[i].remedy.empty()) collectives[i].remedy = std::move(remedies[i]);
}

ReportOptions options_of(const Arguments& arguments) {
    ReportOptions options{arguments.flag("--all"), {}};
    for (size_t i = 0; i < std::size(report_parts) && arguments.has("--only"); ++i)
        if (report_parts[i] == arguments.string("--only")) options.only = static_cast<ReportPart>(i);
    return options;
}

int run(const Arguments& arguments, Env& env) {
    Compiled compiled =
        compile_files(env, arguments.string("MODEL"), arguments.string("LAYOUT"), arguments.string("--mode"));
    const std::vector<Diagnostic>& diagnostics = compiled.diagnostics().all();
    const FormatDef& format = chosen_format(arguments);
    const bool reported = compiled.plan() != nullptr && format.holds_diagnostics;
    if (!reported) print_diagnostics(env, *compiled.sources, diagnostics);
    if (arguments.flag("--timing")) say_seconds(env, compiled.compilation);
    int code = exit_code(compiled.diagnostics());
    if (compiled.plan() == nullptr) return code;
    const Plan& plan = *compiled.plan();
    if (arguments.has("--plan") && !write_file(env, arguments.string("--plan"), print_plan(plan))) return exit_usage;
    if (arguments.has("--trace")) {
        TraceFile trace;
        add_prediction(trace, plan, course_of(compiled.compilation));
        if (!write_file(env, arguments.string("--trace"), trace.text())) return exit_usage;
    }
    const ReportOptions options = options_of(arguments);
    const bool shows_collectives = !options.only || *options.only == ReportPart::collectives;
    if (shows_collectives && !arguments.flag("--quick")) add_remedies(compiled);
    const Paint paint = payload_paint(env, arguments);
    std::string said = reported ? diagnostics_text(*compiled.sources, diagnostics, paint.on) : std::string();
    const std::string text = format.plan({&plan,
                                          when_collectives_run(compiled.compilation),
                                          options,
                                          paint,
                                          std::move(said),
                                          {&compiled.compilation, compiled.sources.get(), &compiled.request}});
    return write_payload(env, arguments, text, code);
}

} // namespace

const CommandDef& command_plan() {
    static const CommandDef def = {
        .name = "plan",
        .usage = "MODEL LAYOUT [-o PLAN] [--format FORMATS]",
        .summary = "what a layout costs: shardings, collectives with cause and source line, memory, time",
        .doc = "Example:\n"
               "  shardc plan model.yaml layout.yaml                   the report\n"
               "  shardc plan model.yaml layout.yaml -o plan.json      and the plan, which `shardc run` executes\n"
               "  shardc plan model.yaml layout.yaml --format json     the report for scripts "
               "(schemas/report.schema.json)\n"
               "Exit code 1 if the layout's policy is broken.",
        .options = {model_option(),
                    {.name = "LAYOUT",
                     .doc = "the layout file, or - for stdin",
                     .required = true,
                     .file = FileUse::read,
                     .dash = true},
                    {.name = "--plan",
                     .value = "FILE",
                     .doc = "write the plan there",
                     .short_name = "-o",
                     .file = FileUse::written},
                    {.name = "--trace",
                     .value = "FILE",
                     .doc = "write the step as the cost model runs it, for ui.perfetto.dev",
                     .file = FileUse::written},
                    mode_option(),
                    {.name = "--all", .doc = "everything one by one, intermediate values too"},
                    {.name = "--only",
                     .value = "PART",
                     .doc = "that part of the report, with nothing left out",
                     .choices = {std::begin(report_parts), std::end(report_parts)}},
                    {.name = "--quick", .doc = "without remedies, each of which is tried by planning again"},
                    {.name = "--timing", .doc = "on stderr, how long each pass took (shardc list passes)"},
                    format_option(formats_for(&FormatDef::plan)),
                    output_option()},
        .order = 1,
        .run = run,
    };
    return def;
}

} // namespace shard
