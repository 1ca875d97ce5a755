#include "cli/inputs/plan_command.h"

#include "plans/base/shell_word.h"

#include <fmt/format.h>

namespace shard {

namespace {

constexpr std::string_view explain_of_same = "`shardc explain`, of the same files and --mode,";

std::string typed(const std::string& path) { return path == "<stdin>" ? "-" : shell_word(path); }

std::string with_options(std::string command, const PlannedAs& planned) {
    if (planned.mode != "forward") command += " --mode " + planned.mode;
    for (const std::string& setting : planned.settings) command += " --set " + shell_word(setting);
    return command;
}

} // namespace

std::string command_line(const std::string& command, const PlannedAs& planned) {
    return with_options(fmt::format("shardc {} {} {}", command, typed(planned.model), typed(planned.layout)), planned);
}

Diagnostics with_commands(const Diagnostics& diagnostics, const PlannedAs& planned, int layout_file, bool alone) {
    Diagnostics result;
    for (Diagnostic diagnostic : diagnostics.all()) {
        if (const size_t at = diagnostic.help.find(explain_of_same); at != std::string::npos) {
            const bool is_of_layout =
                alone || (!diagnostic.labels.empty() && diagnostic.labels.front().span.file == layout_file);
            const std::string command =
                is_of_layout ? command_line("explain", planned)
                             : with_options(fmt::format("shardc explain {} LAYOUT", typed(planned.model)), planned);
            diagnostic.help.replace(at, explain_of_same.size(), fmt::format("`{}`", command));
        }
        result.add(std::move(diagnostic));
    }
    return result;
}

} // namespace shard
