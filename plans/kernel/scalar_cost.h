// What instructions cost beside one another. Most take about as long as an addition; one that is computed by a series,
// as exponentials are, says so in its file: `static constexpr bool is_series = true;`.
#pragma once

#include "plans/kernel/scalar.h"

namespace shard {

bool is_series(ScalarOp op);

} // namespace shard
