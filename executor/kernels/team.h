// Cores that have nothing of their own to do help with a large kernel.
#pragma once

#include "plans/base/base.h"

#include <functional>

namespace shard {

class Team {
public:
    virtual ~Team() = default;
    // Runs part(i) for every i below `count`, side by side where cores are idle; returns after the last one. What a
    // part throws is thrown here. How a kernel is cut depends on its shapes alone: results are the same for any team.
    virtual void share(i64 count, const std::function<void(i64)>& part) = 0;
};

} // namespace shard
