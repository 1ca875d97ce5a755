// The report as JSON, with the names that others rely on (schemas/report.schema.json). `shardc plan --format json`
// prints exactly this; a plan file holds the same objects under "report".
#pragma once

#include "plans/json/json_reader.h"
#include "plans/plan/plan.h"

namespace shard {

// {format_version, tool, model, mode, mesh, hardware, tensors, collectives, compute, memory, time, diagnostics}, and padding
std::string print_report(const Plan& plan);

// One row of "tensors" and of "collectives", for the JSON of other commands.
std::string print_tensor(const Mesh& mesh, const TensorReport& tensor);
std::string print_collective(const Mesh& mesh, const CollectiveReport& collective);

// {bytes, flops}, only there where a dim is padded.
std::string print_padding(const PaddingCost& padding);
PaddingCost read_padding(const JsonAt& at);

// The report as it stands in a plan file.
std::string print_report_object(const Plan& plan);
Report read_report(const JsonAt& at, const Mesh& mesh);

} // namespace shard
