#include "executor/run/calibrate.h"
#include "cli/diagnostics/diagnostics.h"
#include "cli/inputs/output.h"
#include "cli/terminal/exit_code.h"

namespace shard {

namespace {

int run(const Arguments& arguments, Env& env) {
    Diagnostics diagnostics;
    const std::optional<Calibration> found = calibrate({}, diagnostics);
    print_diagnostics(env, Sources{}, diagnostics.all());
    return found ? write_payload(env, arguments, calibration_yaml(*found), exit_clean) : exit_code(diagnostics);
}

} // namespace

const CommandDef& command_calibrate() {
    static const CommandDef def = {
        .name = "calibrate",
        .usage = "[--output FILE]",
        .summary = "measure this machine: a hardware profile for plans that run here",
        .doc = "Example:\n"
               "  shardc calibrate -o measured.yaml     takes seconds; the machine should have nothing else to do\n"
               "Then, in a layout beside it: hardware: measured.yaml",
        .options = {{.name = "--output",
                     .value = "FILE",
                     .doc = "write there instead of to stdout; the file appears whole or not at all",
                     .short_name = "-o",
                     .file = FileUse::written,
                     .dash = true}},
        .order = 9,
        .run = run,
    };
    return def;
}

} // namespace shard
