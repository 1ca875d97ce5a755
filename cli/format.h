// A format for diagnostics is one file: cli/formats/<name>.cpp defines `const FormatDef& format_<name>()`.
#pragma once

#include "plans/diagnostic.h"

#include <span>

namespace shard {

struct FormatContext {
    const Sources& sources;
    bool color = false;
    std::string subject; // what was checked, for formats that name a test or a run
};

struct FormatDef {
    std::string_view name;
    std::string_view doc;
    std::string (*render)(const FormatContext&, std::span<const Diagnostic>) = nullptr;
};

const std::vector<const FormatDef*>& all_formats(); // sorted by name
const FormatDef* find_format(std::string_view name);

} // namespace shard
