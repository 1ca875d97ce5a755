#include "cli/diagnostics.h"
#include "cli/format.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/report.h"

#include <fmt/format.h>

namespace shard {

namespace {

// The layout's own policy was judged by compile(); this one comes on top.
void judge_by_file(Env& env, const std::string& path, Compiled& compiled) {
    Diagnostics& diagnostics = compiled.compilation.diagnostics;
    std::optional<int> file = load_source(env, *compiled.sources, path, diagnostics);
    std::optional<PolicyDecl> policy = file ? read_policy(*compiled.sources, *file, diagnostics) : std::nullopt;
    if (policy && compiled.plan() != nullptr) judge(*compiled.plan(), *policy, diagnostics);
}

int run(const Arguments& arguments, Env& env) {
    std::vector<Compiled> all;
    for (const std::string& layout : arguments.strings("LAYOUT")) {
        all.push_back(compile_files(env, arguments.string("MODEL"), layout, arguments.string("--mode")));
        if (arguments.has("--policy")) judge_by_file(env, arguments.string("--policy"), all.back());
    }
    std::vector<Subject> subjects;
    for (const Compiled& compiled : all)
        subjects.push_back({compiled.name, compiled.plan() == nullptr ? "" : summary_line(*compiled.plan()),
                            compiled.sources.get(), compiled.diagnostics().all()});
    const FormatDef* format = find_format(arguments.string("--format"));
    bool color = env.out_color && !arguments.has("--output");
    return write_payload(env, arguments, format->render(subjects, color), exit_code(subjects));
}

std::vector<std::string_view> format_names() {
    std::vector<std::string_view> names = {"text"};
    for (const FormatDef* format : all_formats())
        if (format->name != "text") names.push_back(format->name);
    return names;
}

} // namespace

const CommandDef& command_check() {
    static const CommandDef def = {
        .name = "check",
        .usage = "MODEL LAYOUT... [--policy FILE] [--format FORMAT]",
        .summary = "do these layouts still meet the policy? for CI",
        .doc = "Example:\n"
               "  shardc check model.yaml layouts/*.yaml --policy policy.yaml --format github\n"
               "A policy file has the keys of a layout's `policy`; both are judged.\n"
               "Exit code 0 if all is well, 1 if a policy is broken, 2 if a file is wrong.",
        .options = {{.name = "MODEL", .doc = "the model file, or - for stdin", .required = true},
                    {.name = "LAYOUT", .doc = "layout files", .required = true, .many = true},
                    {.name = "--policy", .value = "FILE", .doc = "budgets on top of each layout's own"},
                    mode_option(),
                    format_option(format_names()),
                    output_option()},
        .order = 2,
        .run = run,
    };
    return def;
}

} // namespace shard
