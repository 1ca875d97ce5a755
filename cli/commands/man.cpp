#include "cli/command/manual.h"
#include "cli/diagnostics/diagnostics.h"
#include "cli/init/new_files.h"
#include "cli/inputs/candidates.h"
#include "cli/inputs/output.h"
#include "cli/terminal/exit_code.h"

#include <fmt/format.h>

namespace shard {

namespace {

// A page of each command, as an installation has them: man1/shardc.1, man1/shardc-plan.1, ...
int write_all(Env& env, const std::string& folder) {
    std::vector<StartingFile> pages = {{path_in(folder, "shardc.1"), manual_overview()}};
    for (const CommandDef* command : all_commands())
        pages.push_back({path_in(folder, fmt::format("shardc-{}.1", command->name)), manual_page(*command)});
    Diagnostics diagnostics;
    const bool written = write_together(env, pages, diagnostics);
    print_diagnostics(env, Sources(), diagnostics.all());
    return written ? exit_clean : exit_usage;
}

int run(const Arguments& arguments, Env& env) {
    for (const std::string_view one : {"COMMAND", "--output"})
        if (arguments.has("--folder") && arguments.given(one))
            return refuse(env, fmt::format("--folder writes the pages of all commands, and {} is of one", one),
                          "leave one of them out");
    if (arguments.has("--folder")) return write_all(env, arguments.string("--folder"));
    if (!arguments.has("COMMAND")) return write_payload(env, arguments, manual_overview(), exit_clean);
    std::vector<std::string_view> names;
    for (const CommandDef* command : all_commands()) {
        if (command->name == arguments.string("COMMAND"))
            return write_payload(env, arguments, manual_page(*command), exit_clean);
        names.push_back(command->name);
    }
    return unknown_name(env, "command", arguments.string("COMMAND"), names);
}

} // namespace

const CommandDef& command_man() {
    static const CommandDef def = {
        .name = "man",
        .usage = "[COMMAND] [--folder FOLDER]",
        .summary = "the manual page of a command",
        .doc = "Example:\n"
               "  shardc man plan | man -l -              where no page is installed\n"
               "  shardc man --folder ~/.local/share/man/man1     then man shardc-plan",
        .options = {{.name = "COMMAND",
                     .doc = "whose page; without it that of shardc",
                     .candidates = [](const Arguments&, Env&) { return registry_candidates("commands"); }},
                    {.name = "--folder",
                     .value = "FOLDER",
                     .doc = "write the pages of all commands there",
                     .file = FileUse::folder},
                    output_option()},
        .order = 9,
        .run = run,
    };
    return def;
}

} // namespace shard
