// The tables of a report, shared by the commands.
#pragma once

#include "cli/report/report.h"
#include "cli/terminal/table.h"

namespace shard {

// --- parts, shared with other commands ---
Table shardings_table(const Plan& plan, const ReportOptions& options, const Paint& paint);
Table collectives_table(const Plan& plan, const ReportOptions& options, const Paint& paint,
                        const std::vector<CollectiveReport>& collectives);

} // namespace shard
