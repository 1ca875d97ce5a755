#include "cli/diagnostics/diagnostics.h"
#include "cli/inputs/candidates.h"
#include "cli/inputs/inputs.h"
#include "cli/inputs/output.h"
#include "cli/inputs/settings.h"
#include "cli/run/checkpoints.h"
#include "cli/run/engine.h"
#include "cli/run/first_reads.h"
#include "cli/run/input_files.h"
#include "cli/run/output_files.h"
#include "cli/run/run_report.h"
#include "cli/run/step_profile.h"
#include "cli/run/steps.h"
#include "cli/run/verify.h"
#include "cli/terminal/exit_code.h"
#include "cli/terminal/interrupt.h"
#include "cli/trace/step_trace.h"
#include "plans/base/parse_number.h"
#include "plans/base/printable.h"
#include "plans/file/plan_json.h"
#include "plans/plan/plan_difference.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>

namespace shard {

const CommandDef& command_run();

namespace {

// A whole number of at least 1, or what is usual.
std::optional<int> read_count(const Arguments& arguments, std::string_view option, int usual,
                              Diagnostics& diagnostics) {
    if (!arguments.has(option)) return usual;
    const std::string& text = arguments.string(option);
    if (const std::optional<int> value = parse_number<int>(text); value && *value >= 1 && *value <= 1000000)
        return value;
    diagnostics.error("E0701", {}, fmt::format("{} takes a whole number from 1 to 1000000, not '{}'", option, text));
    return std::nullopt;
}

// What this program predicts of the plan, if it makes the plan of its texts.
std::optional<Course> predicted_course(const Plan& plan) {
    const Compiled again = compile_again(plan);
    if (again.plan() == nullptr || !first_difference(plan, *again.plan()).empty()) return std::nullopt;
    return course_of(again.compilation);
}

bool write_trace(const Arguments& arguments, const RunReport& report, const Course* course, Env& env) {
    TraceFile trace;
    if (course != nullptr) add_prediction(trace, *report.plan, *course);
    add_execution(trace, *report.plan, course, report.result.spans);
    if (!write_file(env, arguments.string("--trace"), trace.text())) return false;
    say(env, "wrote " + arguments.string("--trace"));
    return true;
}

// The same command line again, after a run that went to its end: every step of it is in the checkpoint.
int report_nothing_left(const Arguments& arguments, const Plan& plan, const Checkpoint& checkpoint, Env& env,
                        Diagnostics& diagnostics) {
    const int steps = static_cast<int>(checkpoint.step());
    std::string problem;
    if (arguments.has("--log") && !env.files.append(arguments.string("--log"), nothing_left_log(steps), problem))
        diagnostics.error("E0703", {}, fmt::format("cannot write '{}': {}", arguments.string("--log"), problem));
    else
        env.out << chosen_format(arguments).nothing_left(plan, printable(checkpoint.name()), steps,
                                                         Paint{env.out_color, env.width});
    return exit_code(diagnostics);
}

PlanSource plan_of(const FirstReads& first) {
    PlanSource source;
    source.plan = parse_plan(first.plan, source.diagnostics);
    internal_check(source.plan.has_value(), "the first rank's plan is none");
    return source;
}

// What the first rank has read, if nothing is wrong with it.
void send_to_others(Ranks& ranks, const PlanSource& source, const RunOptions& options,
                    const RunCheckpoints& checkpoints, bool fine) {
    if (!fine) return send_reads(ranks, nullptr);
    const FirstReads reads = {source.file_text.empty() ? print_plan(*source.plan) : source.file_text,
                              options.inputs,
                              options.data,
                              options.restored_by_first,
                              checkpoints.checkpoint_step(),
                              checkpoints.first_step()};
    send_reads(ranks, &reads);
}

// On this rank; `ranks` is nullptr where there are no others.
int run_here(const Arguments& arguments, Env& env, Ranks* ranks) {
    const bool reports = ranks == nullptr || ranks->is_first();
    Diagnostics diagnostics;
    check_given_once(arguments, diagnostics);
    RunOptions options;
    std::optional<int> steps = read_count(arguments, "--steps", 1, diagnostics);
    const std::optional<int> repeat = read_count(arguments, "--repeat", 0, diagnostics);
    const std::optional<int> workers = read_count(arguments, "--workers", 0, diagnostics);
    if (diagnostics.has_error()) {
        print_diagnostics(env, Sources(), diagnostics.all());
        return exit_usage;
    }
    options.workers = *workers;
    options.timed = arguments.has("--trace") || arguments.flag("--profile");
    options.poison = arguments.flag("--verify"); // costs a pass over the memory

    int code = exit_clean;
    const bool root_reads = ranks != nullptr && arguments.flag("--root-reads");
    std::optional<FirstReads> first;
    if (root_reads && !reports && !(first = receive_reads(*ranks))) return exit_usage; // the first rank says why
    const std::optional<PlanSource> loaded = first ? plan_of(*first) : load_one_plan(env, arguments, "run", code);
    if (!loaded) return code;
    const PlanSource& source = *loaded;
    const Plan& plan = *source.plan;

    Verification verification;
    if (reports && arguments.flag("--verify") &&
        !verification.prepare(source, arguments.flag("--allow-other-plan"), env))
        return exit_usage;
    options.inputs = first ? std::move(first->inputs) : read_tensors(arguments, "--input", plan, diagnostics);
    options.data = first ? std::move(first->data) : read_tensors(arguments, "--data", plan, diagnostics);
    if (!is_step(plan) && (*steps > 1 || arguments.has("--log")))
        diagnostics.error("E0701", {}, "the plan has no steps to follow: it updates nothing")
            .help("plan with --mode train; --repeat N runs the plan again to time it");
    RunCheckpoints checkpoints(arguments, plan, env, diagnostics, ranks);
    if (first)
        checkpoints.restore(*first);
    else if (!diagnostics.has_error())
        checkpoints.restore(options.inputs, *source.sources, diagnostics);
    if (root_reads) options.restored_by_first = first ? first->restored : checkpoints.restored_names();
    if (root_reads && reports) send_to_others(*ranks, source, options, checkpoints, !diagnostics.has_error());
    if (reports) check_output_files(command_run(), arguments, plan, env, diagnostics);
    check_printed(arguments, plan, diagnostics);
    if (reports && arguments.flag("--verify") && !diagnostics.has_error())
        verification.plan_reference(plan, diagnostics);
    const auto agreed = [&] {
        return ranks == nullptr ? !diagnostics.has_error() : ranks->all("the beginning", !diagnostics.has_error());
    };
    bool begins = agreed();
    if (begins) checkpoints.prepare_save(diagnostics);
    options.restore = checkpoints.restored();
    options.first_step = checkpoints.first_step();
    steps = steps_left(arguments, *steps, options.first_step, diagnostics);
    if (!diagnostics.has_error() && steps == 0) {
        if (checkpoints.restored() != nullptr)
            code = std::max(code, report_nothing_left(arguments, plan, *checkpoints.restored(), env, diagnostics));
        print_diagnostics(env, *source.sources, diagnostics.all());
        return code;
    }
    options.steps = steps.value_or(1) + *repeat;
    RunReport report;
    report.plan = &plan;
    report.first_step = options.first_step;
    report.steps = options.steps;
    report.warm_up = *repeat > 0 ? steps.value_or(1) : 0;
    report.show_seconds = arguments.flag("--time");
    report.of_plan_file = !source.file_text.empty();
    report.quiet = arguments.flag("--quiet");
    report.print = arguments.strings("--print");
    const Paint paint{env.out_color, env.width};
    const FormatDef& format = chosen_format(arguments);
    StepLog log(plan, env, options.first_step, options.steps,
                format.run_heading != nullptr && is_step(plan) ? format.run_heading(plan, paint) : "",
                arguments.has("--log") ? arguments.string("--log") : "");
    bool kept = true;                                    // what was asked for of every step
    if (!diagnostics.has_error()) log.open(diagnostics); // a pipe waits for its reader, and a signal ends that
    Interrupt interrupt;
    options.stop = &interrupt.requested();
    if (is_step(plan))
        options.after_step = [&](const StepView& view) {
            const bool logged = log.add(view); // the checkpoint is one that all ranks make
            kept = checkpoints.after_step(view, diagnostics) && logged;
            return kept && env.out.good(); // where nobody reads on, the run ends as at Ctrl-C
        };
    options.at_end = [&](const StepView& view) {
        log.end();
        kept = checkpoints.at_end(view, diagnostics) && kept;
    };
    options.ranks = ranks;
    options.library_collectives = arguments.string("--collectives") == "native";
    begins = begins && agreed();
    std::optional<RunResult> result = begins ? run_plan(plan, options, diagnostics) : std::nullopt;
    log.end();
    const int interrupted = interrupt.finish(); // what comes now can be ended as usual
    bool ran = result.has_value();
    if (ran && reports) {
        report.result = std::move(*result);
        judge_run(report, diagnostics);
        if (arguments.flag("--verify")) ran = verification.compare(options, report, env, diagnostics);
    }
    if (ran && reports) {
        write_output_files(arguments, report.result, env, diagnostics);
        if (options.timed) {
            const std::optional<Course> course = predicted_course(plan);
            const Course* const predicted = course ? &*course : nullptr;
            if (arguments.has("--trace")) kept = write_trace(arguments, report, predicted, env) && kept;
            if (arguments.flag("--profile"))
                report.profile = profile_of(plan, predicted, report.result.spans, report.result.at_once);
        }
        env.out << format.run(report, paint);
    }
    print_diagnostics(env, *source.sources, diagnostics.all());
    if (!ran || !kept) return exit_usage;
    code = std::max(code, exit_code(diagnostics));
    return code == exit_clean && interrupted != 0 ? interrupted : code;
}

int run(const Arguments& arguments, Env& env) {
    if (arguments.flag("--quiet") && !chosen_format(arguments).leaves_out)
        return refuse(
            env, fmt::format("--quiet is for reading, and --format {} has all outputs", chosen_format(arguments).name),
            "leave it out: a script takes what it needs");
    return run_on_engine(arguments, env, [&](Env& own, Ranks* ranks) { return run_here(arguments, own, ranks); });
}

std::vector<Candidate> inputs(const Arguments& typed, Env& env) {
    return input_candidates(typed.strings("FILE"), typed, env);
}

} // namespace

const CommandDef& command_run() {
    static const CommandDef def = {
        .name = "run",
        .usage = "PLAN | MODEL LAYOUT [--verify]",
        .summary =
            "execute on emulated devices: does it compute the right thing, with the bytes and the memory predicted?",
        .doc = "Example:\n"
               "  shardc run plan.json --verify                        compare with the same model on one device\n"
               "  shardc run model.yaml layout.yaml --input x=x.npy --output z=z.npy\n"
               "  shardc run model.yaml layout.yaml --mode train --steps 5 --data x=x.npy --log losses.jsonl\n"
               "  shardc run model.yaml layout.yaml --mode train --steps 1000 --save ck --save-every 100\n"
               "  shardc run model.yaml other.yaml --mode train --steps 1000 --restore ck --save ck\n"
               "  shardc run model.yaml other.yaml --restore ck --input x=x.npy --output z=z.npy\n"
               "  shardc run model.yaml layout.yaml --mode train --steps 5 --profile --quiet\n"
               "  mpirun -n 8 shardc run plan.json --engine mpi --steps 1000 --save ck --timeout 600\n"
               "Ctrl-C, kill and a hangup end a run after the running step (exit codes 130, 143, 129).\n"
               "Exit code 1 if the results differ, or bytes or memory are not those of the plan.",
        .options = with_engine_options(with_checkpoint_options(
            {{.name = "FILE",
              .doc = "a plan file, or a model and a layout; - for stdin",
              .required = true,
              .many = true,
              .file = FileUse::read,
              .dash = true},
             {.name = "--verify", .doc = "also run the model on one device and compare"},
             {.name = "--allow-other-plan",
              .with = "--verify",
              .doc =
                  "with --verify: compare even a plan file that this program would not write for the texts inside it"},
             {.name = "--steps",
              .value = "N",
              .doc = "train up to step N, from where a restored run was, if that is before; without it one step"},
             {.name = "--repeat",
              .value = "N",
              .doc = "then N more steps or runs, and how long one takes (differs from run to run)"},
             {.name = "--quiet", .doc = "without the table of outputs"},
             {.name = "--print",
              .value = "NAME",
              .doc = "print the elements of an output, of a large one the first; a pattern, 'block.*', prints several",
              .many = true,
              .candidates = [](const Arguments& typed,
                               Env& env) { return output_candidates(typed.strings("FILE"), typed, env); }},
             {.name = "--time", .doc = "say how long the emulation took (differs from run to run)"},
             {.name = "--profile",
              .doc = "where the time of the last step goes, by kind and by module, beside what was predicted"},
             {.name = "--workers", .value = "N", .doc = "threads; the machine's cores unless given"},
             {.name = "--input",
              .value = "NAME=FILE.npy",
              .doc = "take an input or parameter from a file",
              .many = true,
              .file = FileUse::read,
              .candidates = inputs},
             {.name = "--data",
              .value = "NAME=FILE.npy",
              .doc =
                  "an input that changes: step s takes element s of the file's first dim, and begins again at its end",
              .many = true,
              .file = FileUse::read,
              .candidates = inputs},
             {.name = "--log", .value = "FILE", .doc = "append a line of JSON for each step", .file = FileUse::grows},
             {.name = "--output",
              .value = "DIR|NAME=FILE.npy",
              .doc = "write all outputs to a folder, or one to a file",
              .short_name = "-o",
              .many = true,
              .file = FileUse::folder},
             {.name = "--trace",
              .value = "FILE",
              .doc = "write when each device did what in the last step, and what was predicted, for ui.perfetto.dev",
              .file = FileUse::written},
             mode_option(),
             set_option(),
             format_option(formats_for(&FormatDef::run))})),
        .order = 3,
        .run = run,
    };
    return def;
}

} // namespace shard
