#include "cli/command/command.h"

#include <algorithm>

namespace shard {

#define REGISTER(stem) const CommandDef& command_##stem();
#include "command_registry.inc"
#undef REGISTER

const std::vector<const CommandDef*>& all_commands() {
    static const std::vector<const CommandDef*> commands = [] {
        std::vector<const CommandDef*> list = {
#define REGISTER(stem) &command_##stem(),
#include "command_registry.inc"
#undef REGISTER
        };
        std::stable_sort(list.begin(), list.end(),
                         [](const CommandDef* a, const CommandDef* b) { return a->order < b->order; });
        return list;
    }();
    return commands;
}

} // namespace shard
