// How other tools say what is split over which devices, as a layout.
//
// Readers of their files make this of them; their errors are those of YAML (E01xx), and E0810.
// MaxText has mesh axes, how many devices each takes within a slice (ICI) and over slices (DCN), and rules of logical
// axes; T5X two mesh axes and such rules; torchtitan degrees of parallelism, whose meaning is in its code.
#pragma once

#include "plans/diagnostics/diagnostic.h"
#include "plans/sharding/type.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shard {

struct ForeignAxis {
    std::string name;
    i64 within = 1, across = 1;    // devices of a slice, slices; -1: what the other axes leave
    Span within_span, across_span; // what says so, or else what names the axis
};

struct ForeignRules {
    std::vector<ForeignAxis> axes; // outer to inner
    std::vector<std::pair<std::string, std::vector<std::string>>> rules;
    std::string fsdp; // an axis
};

} // namespace shard
