// What to do about a diagnostic that does not say it in its own words.
#pragma once

#include <string_view>

namespace shard {

// By code; empty if all diagnostics of it say it themselves.
std::string_view usual_help(std::string_view code);

} // namespace shard
