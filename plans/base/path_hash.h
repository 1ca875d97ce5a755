// The number that flax folds into a key for a place in a model: the first four bytes, big-endian, of the SHA-1 of the
// module names and a counter, without separators (flax_fix_rng_separator off, flax's default).
//
//     fold_in(key_from_seed(0), path_hash({"DotReluDot_0", "Dense_0"}, 1));   // {2596726166, 1787114568}
#pragma once

#include "plans/base/base.h"

#include <string>
#include <vector>

namespace shard {

// counter: from 1, as bytes without leading zeros.
[[nodiscard]] std::uint32_t path_hash(const std::vector<std::string>& path, i64 counter);

} // namespace shard
