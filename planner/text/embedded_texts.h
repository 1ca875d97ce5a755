#pragma once

#include "plans/base/embedded.h"

#include <span>

namespace shard {

// The texts of the planner inside the binary, by name.
std::span<const EmbeddedText> embedded_hardware(); // planner/hardware/*.yaml: "h100"
std::span<const EmbeddedText> embedded_library();  // planner/library/*.yaml: "llama"
std::span<const EmbeddedText> embedded_schemas();  // schemas/*.json: "model.schema"

} // namespace shard
