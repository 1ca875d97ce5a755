#include "cli/check/accept.h"
#include "cli/check/check_inputs.h"
#include "cli/command/format.h"
#include "cli/diagnostics/diagnostics.h"
#include "cli/inputs/output.h"
#include "cli/inputs/settings.h"
#include "cli/terminal/exit_code.h"

#include <algorithm>

namespace shard {

namespace {

int refuse(Env& env, std::string_view message, std::string help) {
    Diagnostics diagnostics;
    diagnostics.error("E0701", {}, std::string(message)).help(std::move(help));
    print_diagnostics(env, Sources(), diagnostics.all());
    return exit_usage;
}

int run(const Arguments& arguments, Env& env) {
    const bool named = arguments.has("MODEL"), accepts = arguments.flag("--accept");
    if (named && arguments.has("--config"))
        return refuse(env, "--config names what is checked, and so do MODEL and LAYOUT", "leave one of them out");
    if (accepts && arguments.has("--baseline") && arguments.string("--baseline") == "-")
        return refuse(env, "--accept writes the baseline, and stdin is none to write to",
                      "name a file: --baseline FILE");
    const std::optional<std::vector<Rendering>> wanted = wanted_formats(env, arguments, formats_for(&FormatDef::check));
    if (!wanted) return exit_usage;
    CheckInputs inputs = named ? inputs_of_words(env, arguments) : inputs_of_config(env, arguments);
    const auto is_accepted = [](const CheckTask& task) { return !task.accept_in.empty(); };
    if (accepts && inputs.problems.empty() && std::none_of(inputs.tasks.begin(), inputs.tasks.end(), is_accepted))
        return refuse(env, "--accept writes the baseline, and none is named",
                      "name it: --baseline FILE, or baseline: FILE in shardc.yaml");
    std::vector<Checked> all = std::move(inputs.problems);
    std::vector<Checked> of_tasks = check_all(inputs.tasks);
    const bool is_written = !accepts || accept(env, inputs.tasks, of_tasks, !named);
    for (Checked& one : of_tasks) all.push_back(std::move(one));
    std::vector<Subject> subjects;
    for (const Checked& checked : all) subjects.push_back(checked.subject);
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
            "  shardc check --accept            the same, and the figures of now are its baseline from here on\n"
            "A policy file has the keys of a layout's `policy`; both are judged. A comment in a file,\n"
            "  # shardc: allow W0304 why it is meant\n"
            "accepts the findings of that code on its line, or on the next if it stands alone.\n"
            "A baseline is what --accept wrote, or a plan file: --accept writes the figures of now into the baseline\n"
            "that --baseline or shardc.yaml names, the first time and whenever a change is meant.\n"
            "Exit code 0 if all is well, 1 if a policy is broken, 2 if a file is wrong.",
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
