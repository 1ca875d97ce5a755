// Division of whole numbers by others but 0, rounded down or up whatever their signs.
#pragma once

#include "plans/base/base.h"

namespace shard {

constexpr i64 floor_div(i64 a, i64 b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }
constexpr i64 ceil_div(i64 a, i64 b) { return -floor_div(-a, b); }
constexpr i64 round_up(i64 a, i64 unit) { return ceil_div(a, unit) * unit; } // to a multiple of the unit

} // namespace shard
