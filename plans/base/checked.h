// Arithmetic that says when a result does not fit.
#pragma once

#include "plans/base/base.h"

#include <optional>

namespace shard {

// Products that fit i64; nullopt on overflow. An empty shape is a scalar: 1 element.
std::optional<i64> checked_multiply(i64 a, i64 b);

} // namespace shard
