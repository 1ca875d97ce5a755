#include "cli/command/format.h"
#include "cli/diagnostics/diagnostics.h"
#include "cli/diagnostics/subjects_text.h"
#include "cli/inputs/candidates.h"
#include "cli/inputs/inputs.h"
#include "cli/inputs/output.h"
#include "cli/inputs/settings.h"
#include "cli/report/report.h"
#include "cli/sweep/fit.h"
#include "cli/sweep/sweep.h"
#include "cli/terminal/exit_code.h"
#include "cli/terminal/table.h"
#include "cli/trace/step_trace.h"
#include "planner/explain/remedies.h"
#include "planner/pipeline/passes.h"
#include "plans/file/plan_json.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>

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

// Who writes `-o page.html --format html` means the page.
std::string_view page_ending(const std::string& path) {
    for (const std::string_view ending : {".html", ".md", ".csv", ".svg"})
        if (path.ends_with(ending)) return ending;
    return {};
}

int run(const Arguments& arguments, Env& env) {
    if (arguments.has("--plan") && !page_ending(arguments.string("--plan")).empty())
        return refuse(env,
                      fmt::format("-o writes the plan, which is JSON, and '{}' ends in {}", arguments.string("--plan"),
                                  page_ending(arguments.string("--plan"))),
                      fmt::format("the report goes there with --output {}", arguments.string("--plan")));
    if (arguments.has("--only") && !chosen_format(arguments).leaves_out)
        return refuse(
            env,
            fmt::format("--only is for reading, and --format {} has the whole report", chosen_format(arguments).name),
            "leave it out: a script takes what it needs");
    if (arguments.has("--fit")) return run_fit(arguments, env);
    const std::vector<std::string> settings = arguments.strings("--set");
    if (std::any_of(settings.begin(), settings.end(), [](const std::string& s) { return s.find(',') != s.npos; }))
        return run_sweep(arguments, env);
    Compiled compiled =
        compile_files(env, arguments.string("MODEL"), arguments.string("LAYOUT"), plan_arguments(arguments));
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
    const Subject subject{{}, {}, compiled.sources.get(), diagnostics};
    std::string said = reported ? subjects_text(std::span(&subject, 1), paint) : std::string();
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
               "  shardc plan model.yaml layout.yaml --set batch=64,128,256   a line for each value\n"
               "  shardc plan model.yaml layout.yaml --fit batch       the largest batch that fits the memory\n"
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
                     .doc = "write the plan there, as JSON",
                     .short_name = "-o",
                     .file = FileUse::written},
                    {.name = "--trace",
                     .value = "FILE",
                     .doc = "write the step as the cost model runs it, for ui.perfetto.dev",
                     .file = FileUse::written},
                    mode_option(),
                    set_option(),
                    {.name = "--fit",
                     .value = "NAME",
                     .doc = "the largest value of an axis or number of the model or layout that fits the memory",
                     .candidates = [](const Arguments& typed,
                                      Env& env) { return axis_candidates(typed.strings("MODEL"), "", env); }},
                    {.name = "--all", .doc = "everything one by one, intermediate values too"},
                    {.name = "--only",
                     .value = "PART",
                     .doc = "that part of the report, with nothing left out",
                     .choices = {std::begin(report_parts), std::end(report_parts)}},
                    {.name = "--quick", .doc = "without remedies, each of which is tried by planning again"},
                    {.name = "--timing", .doc = "on stderr, how long each pass took (shardc list passes)"},
                    format_option(formats_for(&FormatDef::plan)),
                    output_option("")},
        .order = 1,
        .run = run,
    };
    return def;
}

} // namespace shard
