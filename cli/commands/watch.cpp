// Plans again whenever a file changes. Files are looked at a few times a second: that needs nothing of the file system,
// and sees what editors do, who write beside a file and rename, or empty it first.
#include "cli/diagnostics/diagnostics.h"
#include "cli/inputs/inputs.h"
#include "cli/inputs/output.h"
#include "cli/inputs/settings.h"
#include "cli/report/diff_report.h"
#include "cli/report/report.h"
#include "cli/terminal/exit_code.h"
#include "cli/terminal/interrupt.h"
#include "cli/watch/watched_files.h"
#include "planner/text/named_file.h"
#include "plans/base/printable.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ostream>
#include <thread>

namespace shard {

namespace {

using Clock = std::chrono::steady_clock;
constexpr Clock::duration between_looks = std::chrono::milliseconds(150), settling = std::chrono::milliseconds(30);
constexpr int least_share = 20; // of the time is spent with waiting, however large the files are

// What the last change made of the plan, or all that is to be said of the first one.
std::string told(const Plan& plan, const std::optional<Plan>& last, const Paint& paint) {
    std::string out = report_text({&plan, {}, {false, ReportPart::verdict}, paint, {}});
    if (!last) return out + summary_line(plan) + "\n";
    const std::vector<NamedPlan> both = {{"before", &*last}, {"now", &plan}};
    return plans_differ(both) ? out + "\n" + diff_text(both, paint, false) : out + "The plan is as it was.\n";
}

// The files that differ from what was read, when they stay as they are for a moment; none after a signal.
std::vector<std::string> wait_for_change(const WatchedFiles& files, const std::atomic<bool>& stopped) {
    std::vector<std::string> seen;
    while (!stopped) {
        const Clock::time_point begin = Clock::now();
        std::vector<std::string> changed = files.changed();
        if (!changed.empty() && changed == seen) return changed;
        seen = std::move(changed);
        const Clock::duration pause =
            std::max(seen.empty() ? between_looks : settling, least_share * (Clock::now() - begin));
        for (const Clock::time_point end = Clock::now() + pause; !stopped && Clock::now() < end;)
            std::this_thread::sleep_for(std::min<Clock::duration>(pause, settling));
    }
    return {};
}

int run(const Arguments& arguments, Env& env) {
    Interrupt interrupt;
    const Paint paint = payload_paint(env, arguments);
    std::optional<Plan> last;
    int code = exit_clean;
    while (!interrupt.requested()) {
        WatchedFiles files(env.files);
        Env watched{env.in, env.out, env.err, files, env.out_color, env.err_color, env.width, env.err_terminal};
        Compiled compiled =
            compile_files(watched, arguments.string("MODEL"), arguments.string("LAYOUT"), plan_arguments(arguments));
        for (int i = 0; i < compiled.sources->count();
             ++i) { // what the planner reads: the hardware profile, included files
            const std::string& name = compiled.sources->name(i);
            std::string ignored;
            if (files.look(name, ignored) == compiled.sources->text(i)) files.remember(name, compiled.sources->text(i));
        }
        if (const std::optional<Layout>& layout = compiled.compilation.layout; layout && is_file_name(layout->hardware))
            files.remember(path_beside(layout->hardware, layout->hardware_span, *compiled.sources), std::nullopt);
        if (compiled.plan() != nullptr) env.out << told(*compiled.plan(), last, paint);
        env.out.flush();
        print_diagnostics(env, *compiled.sources, compiled.diagnostics().all());
        code = exit_code(compiled.diagnostics());
        if (compiled.plan() != nullptr) last = std::move(compiled.compilation.plan);
        if (!env.out) break; // nobody reads on, or nothing can be written
        const std::vector<std::string> changed = wait_for_change(files, interrupt.requested());
        std::vector<std::string> names;
        for (const std::string& path : changed) names.push_back(printable(path));
        if (!changed.empty())
            env.out << fmt::format("\n{}\n", paint.strong(fmt::format("{} changed", fmt::join(names, ", "))));
    }
    const int signalled = interrupt.finish();
    return signalled != 0 ? signalled : code;
}

} // namespace

const CommandDef& command_watch() {
    static const CommandDef def = {
        .name = "watch",
        .usage = "MODEL LAYOUT",
        .summary = "plan again whenever a file changes: the verdict, and what changed",
        .doc = "Example:\n"
               "  shardc watch model.yaml layout.yaml\n"
               "Included files and the hardware profile are watched too. A mistake is reported and waits for its "
               "repair; Ctrl-C ends it.",
        .options = {{.name = "MODEL", .doc = "the model file", .required = true, .file = FileUse::read},
                    {.name = "LAYOUT", .doc = "the layout file", .required = true, .file = FileUse::read},
                    mode_option(),
                    set_option()},
        .order = 1,
        .run = run,
    };
    return def;
}

} // namespace shard
