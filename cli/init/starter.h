#pragma once

#include "plans/base/embedded.h"

#include <span>

namespace shard {

// The files that `shardc init` writes, by name: those of cli/init/starter.
std::span<const EmbeddedText> embedded_starter();

} // namespace shard
