// What every page has around what it shows: style, script, and nothing from elsewhere. One file, complete without its
// script.
#pragma once

#include "cli/html/markup.h"

#include <functional>

namespace shard {

// A text of cli/html/assets/ by the name of its file without the ending.
std::string_view page_asset(std::string_view name);

// `body` writes what stands inside <body>.
std::string framed_page(std::string_view title, const std::function<void(Markup&)>& body);

} // namespace shard
