// The kernel classes as JSON. What is read has the form of the class; what is wrong with it is reported at its place.
#pragma once

#include "plans/json/json_reader.h"
#include "plans/json/json_text.h"
#include "plans/kernel/kernel.h"
#include "plans/sharding/mesh.h"

namespace shard {

std::string print_kernel(const Mesh& mesh, const Kernel& kernel);
Kernel read_kernel(const JsonAt& at, const Mesh& mesh);
std::string print_generate(const Mesh& mesh, const Generate& generate);
Generate read_generate(const JsonAt& at, const Mesh& mesh);

} // namespace shard
