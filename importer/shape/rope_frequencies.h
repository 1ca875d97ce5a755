// Frequencies as rope says them: theta^(-k / count) for pair k, and how they are scaled for longer contexts.
#pragma once

#include "plans/dtype/dtype.h"

#include <optional>
#include <vector>

namespace shard {

struct RopeFrequencies {
    std::optional<double> theta; // none if there is one pair, whose frequency is 1 with any
    std::vector<double> scaling; // as rope takes it; empty if they are as they are
};

// nullopt if rope has no such frequencies, up to the rounding of the type that they are computed in.
std::optional<RopeFrequencies> rope_frequencies(const std::vector<double>& frequencies, DType dtype);

} // namespace shard
