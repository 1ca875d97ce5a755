// The report of a plan, for people. The JSON report is plans/report_json.h.
#pragma once

#include "cli/table.h"
#include "plans/plan.h"

namespace shard {

struct ReportOptions {
    bool all_values = false; // intermediate values too, and repeated layers one by one
};

std::string report_text(const Plan& plan, const ReportOptions& options, const Paint& paint);
std::string report_markdown(const Plan& plan, const ReportOptions& options);

// "1 collective, 24.0 KiB sent per device; peak 2.05 MiB of 16.0 GiB; step 12.3 us"
std::string summary_line(const Plan& plan);

// --- parts, shared with other commands ---
Table shardings_table(const Plan& plan, const ReportOptions& options, const Paint& paint);
Table collectives_table(const Plan& plan, const ReportOptions& options, const Paint& paint,
                        const std::vector<CollectiveReport>& collectives);
i64 wire_bytes_per_device(const Report& report);
i64 wire_bytes_total(const Report& report);
i64 collective_count(const Report& report); // executions

} // namespace shard
