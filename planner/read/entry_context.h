// What entries of a graph may refer to beside values.
#pragma once

#include "planner/model/axis_arithmetic.h"

namespace shard {

struct EntryContext {
    const Axes& axes;
    const std::vector<std::string_view>& modules; // names that may be called
};

} // namespace shard
