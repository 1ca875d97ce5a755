// What stands behind the operands of a draft's entry, read back.
#pragma once

#include "plans/sharding/type.h"

#include <string_view>
#include <vector>

namespace shard {

// The list behind a key of an entry: ", dims: [0, 1]" of "dims"; a number is a list of one. Empty if it is not there.
std::vector<i64> listed(std::string_view arguments, std::string_view key);

} // namespace shard
