// The report as JSON, with the names that others rely on (schemas/report.schema.json). `shardc plan --format json`
// prints exactly this; a plan file holds the same objects under "report".
#pragma once

#include "plans/plan.h"

namespace shard {

// {format_version, tool, model, mode, mesh, hardware, tensors, collectives, compute, memory, time, diagnostics}
std::string print_report(const Plan& plan);

} // namespace shard
