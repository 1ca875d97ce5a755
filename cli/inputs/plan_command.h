// Commands to type, of what was checked or planned.
#pragma once

#include "plans/diagnostics/diagnostic.h"

#include <string>
#include <vector>

namespace shard {

// Of a model with a layout: the files as they were named ("<stdin>" becomes -), the mode, "batch=64".
struct PlannedAs {
    std::string model, layout, mode;
    std::vector<std::string> settings;
};

// "shardc plan 'my model.yaml' layout.yaml --mode train --set batch=64": paths and settings for a shell.
std::string command_line(const std::string& command, const PlannedAs& planned);

// The same diagnostics, where what says "`shardc explain`, of the same files and --mode," has the whole command. Those
// that other layouts may have too, since their place is not in `layout_file`, say LAYOUT unless this one is alone.
Diagnostics with_commands(const Diagnostics& diagnostics, const PlannedAs& planned, int layout_file, bool alone);

} // namespace shard
