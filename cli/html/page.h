// A plan as a page: one file that needs nothing else, neither a network nor, but for comfort, its own script.
#pragma once

#include "cli/report/report.h"

namespace shard {

std::string plan_html(const PlanPayload& payload);

} // namespace shard
