#include "cli/command/format.h"
#include "cli/diagnostics/diagnostics.h"
#include "cli/diagnostics/subjects.h"
#include "cli/inputs/inputs.h"
#include "cli/inputs/output.h"
#include "cli/inputs/settings.h"
#include "cli/report/report.h"
#include "planner/price/judge.h"
#include "planner/read/policy_reader.h"
#include "planner/text/allowances.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

namespace shard {

namespace {

// The layout's own policy was judged by compile(); this one comes on top.
void judge_by_file(Env& env, const std::string& path, Compiled& compiled) {
    Diagnostics& diagnostics = compiled.compilation.diagnostics;
    std::optional<int> file = load_source(env, *compiled.sources, path, diagnostics);
    std::optional<PolicyDecl> policy = file ? read_policy(*compiled.sources, *file, diagnostics) : std::nullopt;
    if (!policy || compiled.plan() == nullptr) return;
    Allowances allowances;
    allowances.read(*compiled.sources, *file, diagnostics);
    Diagnostics found;
    judge(*compiled.plan(), *policy, found);
    const Diagnostics left = allowances.apply(found);
    for (const Diagnostic& diagnostic : left.all()) diagnostics.add(diagnostic);
}

// A comment in the model or the policy that silences a finding of one layout is of use, though not to the others.
void drop_allowances_used_elsewhere(std::vector<Subject>& subjects) {
    const auto place = [](const Subject& subject, const Diagnostic& diagnostic) {
        const Span& span = diagnostic.labels.at(0).span;
        return std::tuple(subject.sources->name(span.file), span.line, span.column);
    };
    const auto reads = [](const Subject& subject, const std::string& file) {
        for (int i = 0; i < subject.sources->count(); ++i)
            if (subject.sources->name(i) == file) return !subject.summary.empty();
        return false;
    };
    std::map<std::tuple<std::string, int, int>, i64> unused;
    for (const Subject& subject : subjects)
        for (const Diagnostic& diagnostic : subject.diagnostics)
            if (diagnostic.code == "W0101") ++unused[place(subject, diagnostic)];
    for (Subject& subject : subjects)
        std::erase_if(subject.diagnostics, [&](const Diagnostic& diagnostic) {
            if (diagnostic.code != "W0101") return false;
            const std::tuple<std::string, int, int> at = place(subject, diagnostic);
            return unused[at] < std::count_if(
                                    subjects.begin(), subjects.end(),
                                    [&](const Subject& other) { return reads(other, std::get<0>(at)); });
        });
}

int run(const Arguments& arguments, Env& env) {
    std::vector<Compiled> all;
    for (const std::string& layout : arguments.strings("LAYOUT")) {
        all.push_back(compile_files(env, arguments.string("MODEL"), layout, plan_arguments(arguments)));
        if (arguments.has("--policy")) judge_by_file(env, arguments.string("--policy"), all.back());
    }
    std::vector<Subject> subjects;
    for (const Compiled& compiled : all)
        subjects.push_back({compiled.name, compiled.plan() == nullptr ? "" : summary_line(*compiled.plan()),
                            compiled.sources.get(), compiled.diagnostics().all()});
    drop_allowances_used_elsewhere(subjects);
    const bool color = payload_paint(env, arguments).on;
    return write_payload(env, arguments, chosen_format(arguments).check(subjects, color), exit_code(subjects));
}

} // namespace

const CommandDef& command_check() {
    static const CommandDef def = {
        .name = "check",
        .usage = "MODEL LAYOUT... [--policy FILE] [--format FORMAT]",
        .summary = "do these layouts still meet the policy? for CI",
        .doc = "Example:\n"
               "  shardc check model.yaml layouts/*.yaml --policy policy.yaml --format github\n"
               "A policy file has the keys of a layout's `policy`; both are judged. A comment in a file,\n"
               "  # shardc: allow W0304 why it is meant\n"
               "accepts the findings of that code on its line, or on the next if it stands alone.\n"
               "Exit code 0 if all is well, 1 if a policy is broken, 2 if a file is wrong.",
        .options = {model_option(),
                    {.name = "LAYOUT",
                     .doc = "layout files",
                     .required = true,
                     .many = true,
                     .file = FileUse::read,
                     .dash = true},
                    {.name = "--policy",
                     .value = "FILE",
                     .doc = "budgets on top of each layout's own",
                     .file = FileUse::read,
                     .dash = true},
                    mode_option(),
                    set_option(),
                    format_option(formats_for(&FormatDef::check)),
                    output_option()},
        .order = 2,
        .run = run,
    };
    return def;
}

} // namespace shard
