#include "cli/check/accept.h"
#include "cli/check/check_inputs.h"
#include "cli/check/mend.h"
#include "cli/command/format.h"
#include "cli/diagnostics/diagnostics.h"
#include "cli/inputs/output.h"
#include "cli/inputs/settings.h"
#include "cli/terminal/exit_code.h"

#include <algorithm>

namespace shard {

namespace {

std::vector<Subject> subjects_of(const std::vector<Checked>& problems, const std::vector<Checked>& of_tasks) {
    std::vector<Subject> subjects;
    for (const Checked& checked : problems) subjects.push_back(checked.subject);
    for (const Checked& checked : of_tasks) subjects.push_back(checked.subject);
    return subjects;
}

// --fix writes files as they stand, and reads them again.
int refuse_fix(Env& env, const Arguments& arguments) {
    if (arguments.has("--set"))
        return refuse(env, "--fix mends what files say, and --set checks something else", "leave one of them out");
    for (const std::string_view name : {"MODEL", "LAYOUT", "--policy", "--baseline"})
        for (const std::string& word : arguments.strings(name))
            if (word == "-") return refuse(env, "--fix writes files, and stdin is none", "name a file instead of -");
    return exit_clean;
}

int run(const Arguments& arguments, Env& env) {
    const bool named = arguments.has("MODEL"), accepts = arguments.flag("--accept");
    if (named && arguments.has("--config"))
        return refuse(env, "--config names what is checked, and so do MODEL and LAYOUT", "leave one of them out");
    if (accepts && arguments.has("--baseline") && arguments.string("--baseline") == "-")
        return refuse(env, "--accept writes the baseline, and stdin is none to write to",
                      "name a file: --baseline FILE");
    const bool fixes = arguments.flag("--fix");
    if (fixes && refuse_fix(env, arguments) != exit_clean) return exit_usage;
    const std::optional<std::vector<Rendering>> wanted = wanted_formats(env, arguments, formats_for(&FormatDef::check));
    if (!wanted) return exit_usage;
    const auto inputs_of = named ? inputs_of_words : inputs_of_config;
    CheckInputs inputs = inputs_of(env, arguments);
    std::vector<Checked> of_tasks = check_all(inputs.tasks);
    bool is_written = true;
    if (fixes) {
        const auto judge = [&](Env& there) {
            const auto held = std::make_shared<std::pair<CheckInputs, std::vector<Checked>>>();
            held->first = inputs_of(there, arguments);
            held->second = check_all(held->first.tasks);
            return Judged{held, subjects_of(held->first.problems, held->second)};
        };
        const Mending mending = mend(env, {nullptr, subjects_of(inputs.problems, of_tasks)}, judge);
        is_written = mending.written;
        if (mending.changed) {
            inputs = inputs_of(env, arguments);
            of_tasks = check_all(inputs.tasks);
        }
    }
    const auto is_accepted = [](const CheckTask& task) { return !task.accept_in.empty(); };
    if (accepts && inputs.problems.empty() && std::none_of(inputs.tasks.begin(), inputs.tasks.end(), is_accepted))
        return refuse(env, "--accept writes the baseline, and none is named",
                      "name it: --baseline FILE, or baseline: FILE in shardc.yaml");
    if (accepts) is_written = accept(env, inputs.tasks, of_tasks, !named) && is_written;
    const std::vector<Subject> subjects = subjects_of(inputs.problems, of_tasks);
    const CheckPayload payload = {subjects, Repository(env.files)};
    return write_renderings(
        env, arguments, *wanted,
        [&](const FormatDef& format, const Paint& paint) { return format.check(payload, paint); },
        is_written ? exit_code(subjects) : static_cast<int>(exit_usage));
}

} // namespace

const CommandDef& command_check() {
    static const CommandDef def = {
        .name = "check",
        .usage =
            "[MODEL LAYOUT...] [--policy FILE] [--baseline FILE --tolerance 3% | --accept] [--format FORMAT[=FILE]]...",
        .summary = "do these layouts still meet the policy? for CI",
        .doc =
            "Examples:\n"
            "  shardc check model.yaml layouts/*.yaml --policy policy.yaml --format github\n"
            "  shardc check model.yaml layouts/*.yaml --format text --format sarif=out.sarif --format junit=out.xml\n"
            "  shardc check model.yaml layouts/*.yaml --baseline accepted.json --tolerance 3%\n"
            "  shardc check                     what shardc.yaml says, of this folder or one above it\n"
            "  shardc check --fix               the same, when misspelt words and what nothing uses are mended in the "
            "files\n"
            "  shardc check --accept            the same, and the figures of now are its baseline from here on\n"
            "A policy file has the keys of a layout's `policy`; both are judged. A comment in a file,\n"
            "  # shardc: allow W0304 why it is meant\n"
            "accepts the findings of that code on its line, or on the next if it stands alone.\n"
            "A baseline is what --accept wrote, or a plan file: --accept writes the figures of now into the baseline\n"
            "that --baseline or shardc.yaml names, the first time and whenever a change is meant.\n"
            "Exit code 0 if all is well, 1 if a policy is broken or a plan does not fit the hardware, 2 if a file is "
            "wrong.",
        .options = {{.name = "MODEL", .doc = "the model file, or - for stdin", .file = FileUse::read, .dash = true},
                    {.name = "LAYOUT", .doc = "layout files", .many = true, .file = FileUse::read, .dash = true},
                    {.name = "--policy",
                     .value = "FILE",
                     .doc = "budgets on top of each layout's own",
                     .file = FileUse::read,
                     .dash = true},
                    {.name = "--strict", .doc = "warnings fail too: exit code 1"},
                    {.name = "--baseline",
                     .value = "FILE",
                     .doc = "figures that may not get worse",
                     .file = FileUse::read,
                     .dash = true},
                    {.name = "--fix",
                     .doc = "mend what is mechanical in the files, then check: what --format patch prints"},
                    {.name = "--accept", .doc = "write the figures of now into the baseline, instead of comparing"},
                    {.name = "--tolerance",
                     .value = "PERCENT",
                     .doc = "how much worse they may be: 3%, or wire_bytes=1%,step_seconds=5%"},
                    {.name = "--config", .value = "FILE", .doc = "instead of shardc.yaml", .file = FileUse::read},
                    mode_option(),
                    set_option(),
                    formats_option(formats_for(&FormatDef::check)),
                    output_option()},
        .order = 2,
        .run = run,
    };
    return def;
}

} // namespace shard
