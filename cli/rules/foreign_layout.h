// The layout that rules of another tool say.
#pragma once

#include "cli/rules/foreign_rules.h"

#include <string_view>

namespace shard {

struct ForeignDevices {
    i64 count = 0, slices = 1; // 0: not said
};

// Puts numbers in place of -1; E0810 if the devices do not divide, or are not said and needed.
bool fill_axes(ForeignRules& rules, const ForeignDevices& devices, Span place, Diagnostics& diagnostics);
// The layout file. Axes of one device are left out, and from rules too.
std::string layout_of(const ForeignRules& rules, std::string_view tool);

} // namespace shard
