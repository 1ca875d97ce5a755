// The arrays of a report, as rows of those that lie alike.
#pragma once

#include "cli/summary/detail.h"
#include "plans/plan/plan.h"

namespace shard {

struct ShardingRow {
    const TensorReport* first = nullptr; // of those that the row stands for
    std::string name, source;
    bool is_as_params = false; // states or gradients, each of the form and sharding of its parameter
    i64 count = 0, bytes = 0;  // bytes of all of them on a device
};

struct ShardingRows {
    std::vector<ShardingRow> rows; // by role: inputs, params, states, gradients, values, outputs
    size_t left_out = 0;
};

// Intermediate values only with Detail::each.
ShardingRows sharding_rows(const Plan& plan, Detail detail);

} // namespace shard
