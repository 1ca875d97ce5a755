// Mesh, axes, shardings, affine expressions, types and places as JSON.
#pragma once

#include "plans/json/json_reader.h"
#include "plans/json/json_text.h"
#include "plans/plan/plan.h"

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

std::string print_int_lists(const std::vector<std::vector<int>>& lists);

} // namespace shard
