// Plans side by side as a page: figures with their bars, memory and time on one scale, collectives by kind and axes, the
// shardings that differ as tiles, and the layouts.
#pragma once

#include "cli/report/diff_report.h"

namespace shard {

// all_values: intermediate values too, not only what the model declares.
std::string diff_html(const std::vector<NamedPlan>& plans, bool all_values);

} // namespace shard
