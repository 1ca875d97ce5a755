// What `--help` prints, from the tables of the commands.
#pragma once

#include "cli/command/command.h"

namespace shard {

inline constexpr std::string_view tool_summary =
    "shardc compiles sharding plans: what a model and a layout cost, and why";

inline constexpr std::string_view exit_codes_text =
    "0 clean, 1 findings, 2 bad input or usage, 3 internal error, 130 run or watch was stopped by Ctrl-C, 143 by kill, "
    "129 by a hangup, 141 nobody read on";

bool is_positional(const OptionDef& option);
std::string option_name(const OptionDef& option); // "-o, --plan FILE"
std::string option_doc(const OptionDef& option);  // with its choices and what stands for it

// With the values of --format in the place of the word FORMATS.
std::string usage_of(const CommandDef& command);

std::string overview(); // of all commands
std::string help_text(const CommandDef& command);

} // namespace shard
