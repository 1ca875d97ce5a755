#include "cli/check/mend.h"

#include "cli/diagnostics/diagnostics.h"
#include "cli/diagnostics/fixes.h"
#include "plans/base/units.h"

#include <fmt/format.h>

namespace shard {

Mending mend(Env& env, std::span<const Subject> subjects) {
    Mending mending;
    for (const MendedFile& mended : mended_files(subjects)) {
        std::string problem;
        if (env.files.read(mended.file, problem) != mended.before) continue;
        if (env.files.write(mended.file, mended.after, problem, OutputUse::renew)) {
            say(env, fmt::format("mended {}: {}", mended.file, counted(mended.lines, "line")));
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
