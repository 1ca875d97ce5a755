#include "cli/check/accept.h"

#include "cli/diagnostics/diagnostics.h"
#include "cli/diagnostics/subjects_json.h"
#include "plans/base/units.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <set>

namespace shard {

namespace {

using Accepted = std::map<CheckedAs, Figures>;

bool refuse(Env& env, std::string_view code, const std::string& message, std::string help) {
    Diagnostics diagnostics;
    diagnostics.error(code, {}, message).help(std::move(help));
    print_diagnostics(env, Sources(), diagnostics.all());
    return false;
}

// What the file holds: nothing where there is none yet. nullopt, after reporting, where it is something else.
std::optional<Accepted> held_by(Env& env, const std::string& path) {
    std::string problem;
    const std::optional<std::string> text = env.files.read(path, problem);
    if (!text && problem == std::strerror(ENOENT)) return Accepted{};
    if (!text) {
        refuse(env, "E0702", fmt::format("cannot read '{}': {}", path, problem), "name a file that --accept may write");
        return std::nullopt;
    }
    Sources sources;
    Diagnostics diagnostics;
    sources.add(path, *text);
    const std::optional<Baseline> before = read_baseline(sources, 0, diagnostics);
    if (before && !before->is_plan) return before->figures;
    if (before)
        refuse(env, "E0711", fmt::format("'{}' is a plan, and --accept writes figures", path),
               "write the plan again: `shardc plan MODEL LAYOUT -o FILE`; or name another baseline");
    else
        print_diagnostics(env, sources, diagnostics.all());
    return std::nullopt;
}

// What stays of the file: figures of what was not checked. Of all that there is, these are other modes of it.
Accepted kept_of(const Accepted& before, const Accepted& now, bool whole) {
    std::set<std::pair<std::string, std::string>> checked;
    for (const auto& [as, figures] : now) checked.emplace(as.model, as.layout);
    Accepted kept;
    for (const auto& [as, figures] : before)
        if (!whole || checked.contains({as.model, as.layout})) kept.emplace(as, figures);
    return kept;
}

bool write(Env& env, const std::string& path, const Accepted& accepted) {
    std::vector<Subject> subjects;
    for (const auto& [as, figures] : accepted) {
        Subject& subject = subjects.emplace_back();
        subject.name = as.layout;
        subject.as = as;
        subject.figures = figures;
    }
    std::string problem;
    if (!env.files.write(path, subjects_json(subjects), problem, OutputUse::renew))
        return refuse(env, "E0703", fmt::format("cannot write '{}': {}", path, problem), "the file was left as it was");
    say(env, fmt::format("accepted the figures of {}: {}", counted(static_cast<i64>(accepted.size()), "layout"), path));
    return true;
}

} // namespace

bool accept(Env& env, const std::vector<CheckTask>& tasks, const std::vector<Checked>& all, bool whole) {
    std::map<std::string, Accepted> now;
    std::map<std::string, std::string> unplanned; // by baseline: a layout without figures
    for (size_t i = 0; i < tasks.size(); ++i) {
        if (tasks[i].accept_in.empty()) continue;
        Accepted& accepted = now[tasks[i].accept_in];
        if (const std::optional<Figures>& figures = all[i].subject.figures)
            accepted.emplace(tasks[i].as, *figures);
        else
            unplanned.emplace(tasks[i].accept_in, tasks[i].name);
    }
    bool is_good = true;
    for (auto& [path, accepted] : now) {
        const std::optional<Accepted> before = held_by(env, path);
        if (before && unplanned.contains(path))
            say(env, fmt::format("{} is left as it was, since {} could not be planned", path, unplanned.at(path)));
        if (before) accepted.merge(kept_of(*before, accepted, whole));
        is_good = before && !unplanned.contains(path) && write(env, path, accepted) && is_good;
    }
    return is_good;
}

} // namespace shard
