// The report of a plan, for people. What it shows is decided in cli/summary/, how that is laid out in report.cpp and
// report_tables.cpp.
// The JSON report is plans/file/report_json.h.
#pragma once

#include "cli/terminal/table.h"
#include "planner/explain/when.h"
#include "plans/plan/plan.h"

namespace shard {

// What `--only` names, in this order.
enum class ReportPart { verdict, collectives, shardings, memory, time };
inline constexpr std::string_view report_parts[] = {"verdict", "collectives", "shardings", "memory", "time"};

struct ReportOptions {
    bool all = false;                    // everything one by one, intermediate values too
    std::optional<ReportPart> only = {}; // that part, with nothing left out
};

// What a plan is made of, for a format that shows more of it than the report.
struct PlanOrigin {
    const Compilation* compilation = nullptr;
    const Sources* sources = nullptr;
    const PlanRequest* request = nullptr;
};

// What `plan` prints.
struct PlanPayload {
    const Plan* plan = nullptr;
    std::vector<When> when; // by collective
    ReportOptions options;
    Paint paint;
    std::string diagnostics; // as text, for a format that holds them
    PlanOrigin made_by = {};
};

// The parts that are asked for; for terminals and for a pull request.
std::string report_text(const PlanPayload& payload);
std::string report_markdown(const PlanPayload& payload);

// "1 collective, 24.0 KiB sent per device; peak 2.05 MiB of 16.0 GiB; step 12.3 us"
std::string summary_line(const Plan& plan);

} // namespace shard
