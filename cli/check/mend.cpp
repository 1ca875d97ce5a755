#include "cli/check/mend.h"

#include "cli/check/trial_files.h"
#include "cli/diagnostics/diagnostics.h"
#include "cli/diagnostics/fixes.h"
#include "plans/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace shard {

namespace {

constexpr int most_rounds = 10; // each mends what the last one brought to light

struct MadeEdit {
    std::string file;
    MendedLine line;
};

// What mending made of the files, without writing them.
struct Trial {
    std::vector<MendedFile> files; // in the order in which they were mended
    std::vector<MadeEdit> edits;
    Judged found; // afterwards
};

Trial tried(Env& env, const Judged& found, const Judge& judge, const RefusedFixes& refused) {
    TrialFiles files(env.files);
    std::ostringstream unsaid;
    Env there{env.in, unsaid, unsaid, files};
    Trial trial;
    for (int round = 0; round < most_rounds; ++round) {
        bool changed = false;
        for (MendedFile& mended : mended_files(round == 0 ? found.subjects : trial.found.subjects, refused)) {
            std::string problem;
            if (files.read(mended.file, problem) != mended.before) continue;
            files.write(mended.file, mended.after, problem, OutputUse::renew);
            changed = true;
            for (const MendedLine& line : mended.lines) trial.edits.push_back({mended.file, line});
            const auto known = std::find_if(trial.files.begin(), trial.files.end(),
                                            [&](const MendedFile& other) { return other.file == mended.file; });
            if (known == trial.files.end()) {
                trial.files.push_back(std::move(mended));
            } else {
                known->after = mended.after;
                known->lines.insert(known->lines.end(), mended.lines.begin(), mended.lines.end());
            }
        }
        if (!changed) break;
        trial.found = judge(there);
    }
    return trial;
}

using Mistake = std::pair<std::string, std::string>; // code and message: lines move

std::set<Mistake> mistakes_of(const Judged& judged) {
    std::set<Mistake> mistakes;
    for (const Placed& placed : flatten(judged.subjects))
        if (placed.diagnostic->severity == Severity::error && !placed.diagnostic->finding)
            mistakes.emplace(placed.diagnostic->code, placed.diagnostic->message);
    return mistakes;
}

// Edits whose lines have a mistake that was nowhere before; all of them where files that had none have one. What hid
// behind a mistake shows in other lines, and is nobody's fault.
RefusedFixes worse_edits(const Trial& trial, const std::set<Mistake>& before) {
    RefusedFixes worse;
    bool has_new = false;
    for (const Placed& placed : flatten(trial.found.subjects)) {
        const Diagnostic& diagnostic = *placed.diagnostic;
        if (diagnostic.severity != Severity::error || diagnostic.finding) continue;
        if (before.contains({diagnostic.code, diagnostic.message})) continue;
        has_new = true;
        for (const Label& label : diagnostic.labels) {
            if (!label.span.known()) continue;
            const std::string& file = placed.sources->name(label.span.file);
            const std::string_view line = placed.sources->line(label.span.file, label.span.line);
            for (const MadeEdit& edit : trial.edits)
                if (edit.file == file && edit.line.after == line) worse.emplace(file, edit.line.before);
        }
    }
    if (has_new && before.empty() && worse.empty())
        for (const MadeEdit& edit : trial.edits) worse.emplace(edit.file, edit.line.before);
    return worse;
}

} // namespace

Mending mend(Env& env, const Judged& found, const Judge& judge) {
    const std::set<Mistake> before = mistakes_of(found);
    RefusedFixes refused;
    Trial trial = tried(env, found, judge, refused);
    for (RefusedFixes worse = worse_edits(trial, before); !worse.empty(); worse = worse_edits(trial, before)) {
        refused.merge(worse);
        trial = tried(env, found, judge, refused);
    }
    Mending mending;
    for (const MendedFile& mended : trial.files) {
        std::string problem;
        if (env.files.read(mended.file, problem) != mended.before) continue;
        if (env.files.write(mended.file, mended.after, problem, OutputUse::renew)) {
            say(env, fmt::format("mended {}: {}", mended.file, counted(static_cast<i64>(mended.lines.size()), "line")));
            mending.changed = true;
            continue;
        }
        Diagnostics diagnostics;
        diagnostics.error("E0703", {}, fmt::format("cannot write '{}': {}", mended.file, problem))
            .help("the file was left as it was");
        print_diagnostics(env, Sources(), diagnostics.all());
        mending.written = false;
    }
    return mending;
}

} // namespace shard
