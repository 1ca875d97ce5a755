// From which distribution a random (or constant) array is drawn: a closed, plain description that a plan file holds.
// The numbers come from executor/kernels/sampler.h; what they mean is fixed here, all arithmetic in float32:
//
//   constant          value
//   uniform           in [low, high)
//   normal            mean 0, deviation 1
//   truncated_normal  normal, cut to (low, high)
//   bernoulli         1 with probability `probability`, else 0
//   randint           an int32 in [low, high)
//   bits              32 random bits, as uint32
//
// uniform, normal and truncated_normal are then multiplied by `scale`, and if `offset` is not 0 it is added after that.
// For example Glorot's initializer of a 1024 x 1024 matrix is {truncated_normal, low -2, high 2, scale 0.035526477}.
#pragma once

#include "plans/base/base.h"

#include <optional>
#include <string>
#include <string_view>

namespace shard {

enum class DistributionKind { constant, uniform, normal, truncated_normal, bernoulli, randint, bits };

// Fields that a kind does not use keep their defaults, so that equal distributions compare equal.
struct Distribution {
    DistributionKind kind = DistributionKind::constant;
    double value = 0;
    double low = 0;
    double high = 0;
    double probability = 0;
    double scale = 1;
    double offset = 0;
    bool operator==(const Distribution&) const = default;
};

[[nodiscard]] std::string_view distribution_kind_name(DistributionKind kind);
[[nodiscard]] std::optional<DistributionKind> distribution_kind_from_name(std::string_view name);

// Whether the values depend on a key.
[[nodiscard]] bool is_random(const Distribution& distribution);

// For people: "truncated_normal(-2, 2) * 0.035526477".
[[nodiscard]] std::string to_text(const Distribution& distribution);

} // namespace shard
