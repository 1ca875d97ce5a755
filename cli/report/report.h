// The report of a plan, for people. The JSON report is plans/file/report_json.h.
#pragma once

#include "cli/terminal/table.h"
#include "plans/plan/plan.h"

namespace shard {

struct ReportOptions {
    bool all_values = false; // intermediate values too, and repeated layers one by one
};

// What `plan` prints.
struct PlanPage {
    const Plan* plan = nullptr;
    ReportOptions options;
    Paint paint;
    std::string diagnostics; // as text, for a format that holds them
};

// The whole page: shardings, collectives with their causes, memory, time; for terminals and for a pull request.
std::string report_text(const Plan& plan, const ReportOptions& options, const Paint& paint);
std::string report_markdown(const Plan& plan, const ReportOptions& options);

// "1 collective, 24.0 KiB sent per device; peak 2.05 MiB of 16.0 GiB; step 12.3 us"
std::string summary_line(const Plan& plan);

} // namespace shard
