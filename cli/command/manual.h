// Manual pages, of what `--help` says.
#pragma once

#include "cli/command/command.h"

namespace shard {

// troff for man(1): shardc(1), and shardc-plan(1) and the like.
std::string manual_overview();
std::string manual_page(const CommandDef& command);

} // namespace shard
