#include "cli/command/format.h"

namespace shard {

#define REGISTER(stem) const FormatDef& format_##stem();
#include "format_registry.inc"
#undef REGISTER

const std::vector<const FormatDef*>& all_formats() {
    static const std::vector<const FormatDef*> formats = {
#define REGISTER(stem) &format_##stem(),
#include "format_registry.inc"
#undef REGISTER
    };
    return formats;
}

const FormatDef* find_format(std::string_view name) {
    for (const FormatDef* format : all_formats())
        if (format->name == name) return format;
    return nullptr;
}

} // namespace shard
