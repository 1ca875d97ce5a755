// Programs that kernels run per element, in the JSON of plan files.
#pragma once

#include "plans/json/json_reader.h"
#include "plans/json/json_text.h"
#include "plans/kernel/kernel.h"
#include "plans/sharding/mesh.h"

namespace shard {

// `to` with the keys `inputs` and `steps`.
JsonObject add_program(const Mesh& mesh, const Pointwise& program, JsonObject to);
Pointwise read_program(const JsonAt& at, const Mesh& mesh);

} // namespace shard
