// The parts of a plan as JSON, each idea with its printer and its parser side by side:
//   plan_json_nouns.cpp    mesh, axes, shardings, affine expressions, types, places
//   plan_json_kernel.cpp   the kernel classes
//   plan_json_steps.cpp    buffers, collectives and steps
//   report_json.cpp        the report
//   plan_json.cpp          the file: version, order of keys, checksum
// A key whose value is the usual one (a sum, no alias, a constant affine) is left out. Printers need a plan that
// plan_problems (plans/plan/plan_check.h) finds safe to run; parsers take any tree and report what is wrong with it.
#pragma once

#include "plans/json/json_reader.h"
#include "plans/json/json_text.h"
#include "plans/plan/plan.h"

namespace shard {

// plan.json: print(plan) is byte-deterministic, ends with a checksum over the rest; parse checks version, checksum and
// that it is safe to run (plans/plan/plan_check.h).
std::string print_plan(const Plan& plan);
std::optional<Plan> parse_plan(std::string_view json, Diagnostics& diagnostics);
// Of a file: with the place of everything that is wrong.
std::optional<Plan> parse_plan(const JsonText& file, Diagnostics& diagnostics);

// Everything before the checksum's line, and the whole file. parse_plan(seal_plan(body)) accepts any body that is a
// plan.
std::string seal_plan(std::string body);

} // namespace shard
