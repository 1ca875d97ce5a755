// Buffers, collectives and steps as JSON.
#pragma once

#include "plans/json/json_reader.h"
#include "plans/json/json_text.h"
#include "plans/plan/plan.h"

namespace shard {

std::string print_buffer(const Mesh& mesh, const Buffer& buffer);
Buffer read_buffer(const JsonAt& at, const Mesh& mesh);
std::string print_collective(const Mesh& mesh, const Collective& collective);
Collective read_collective(const JsonAt& at, const Mesh& mesh);
std::string print_steps(const Mesh& mesh, std::span<const Step> steps, int indent);
std::vector<Step> read_steps(const JsonAt& at, const Mesh& mesh);

} // namespace shard
