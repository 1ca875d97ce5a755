// The parts of a plan as JSON, each idea with its printer and its parser side by side:
//   plan_json_nouns.cpp    mesh, axes, shardings, affine expressions, types, places
//   plan_json_kernel.cpp   the kernel classes
//   plan_json_steps.cpp    buffers, collectives and steps
//   report_json.cpp        the report
//   plan_json.cpp          the file: version, order of keys, checksum
// A key whose value is the usual one (a sum, no alias, a constant affine) is left out. Printers need a plan that
// verify_plan accepts; parsers take any tree and report what is wrong with it.
#pragma once

#include "plans/json_reader.h"
#include "plans/json_text.h"
#include "plans/plan.h"

namespace shard {

std::string print_mesh(const Mesh& mesh);
Mesh read_mesh(const JsonAt& at);
std::string print_axes(const Mesh& mesh, std::span<const AxisRef> axes); // ["data", "model:(1)2"]
std::vector<AxisRef> read_axes(const JsonAt& at, const Mesh& mesh);
std::string print_affine(const Mesh& mesh, const Affine& affine);
Affine read_affine(const JsonAt& at, const Mesh& mesh);
std::string print_affines(const Mesh& mesh, std::span<const Affine> affines);
std::vector<Affine> read_affines(const JsonAt& at, const Mesh& mesh);
std::string print_sharding(const Mesh& mesh, const Sharding& sharding); // the text form, as a string
Sharding read_sharding(const JsonAt& at, const Mesh& mesh);
std::string print_source(const SourceRef& source); // null if there is none
SourceRef read_source(const JsonAt& at);
DType read_dtype(const JsonAt& at);
ReduceOp read_reduce(const JsonAt& at);
Role read_role(const JsonAt& at);
// A name as model files have them, a path of such ("block.0.w1"), or one that the planner made of it ("w1.grad#2").
std::string read_name(const JsonAt& at);

std::string print_kernel(const Mesh& mesh, const Kernel& kernel);
Kernel read_kernel(const JsonAt& at, const Mesh& mesh);
std::string print_generate(const Mesh& mesh, const Generate& generate);
Generate read_generate(const JsonAt& at, const Mesh& mesh);

std::string print_buffer(const Mesh& mesh, const Buffer& buffer);
Buffer read_buffer(const JsonAt& at, const Mesh& mesh);
std::string print_steps(const Mesh& mesh, std::span<const Step> steps, int indent);
std::vector<Step> read_steps(const JsonAt& at, const Mesh& mesh);

// The report as it stands in a plan file.
std::string print_report_object(const Plan& plan);
Report read_report(const JsonAt& at, const Mesh& mesh);

// parse_plan (plans/plan.h) of a file, with the place of everything that is wrong.
std::optional<Plan> parse_plan(const JsonText& file, Diagnostics& diagnostics);

// Everything before the checksum's line, and the whole file. parse_plan(seal_plan(body)) accepts any body that is a
// plan.
std::string seal_plan(std::string body);

} // namespace shard
