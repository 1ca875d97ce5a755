// What `check` found, as a page: a row for each layout with its verdict and figures, then every finding with its line.
#pragma once

#include "cli/diagnostics/subjects.h"

#include <span>
#include <string>

namespace shard {

std::string check_html(std::span<const Subject> subjects);

} // namespace shard
