// A model and a layout planned with each of several values: what `plan --set batch=64,128` prints.
#pragma once

#include "cli/terminal/table.h"
#include "plans/plan/plan.h"

namespace shard {

struct SweepRow {
    std::vector<std::string> values; // of what is set, in the order of the sweep's names
    std::optional<Plan> plan;        // absent after an error
    std::string verdict;             // "fits", "does not fit", "E0313"
    bool is_good = false;
};

struct Sweep {
    std::vector<std::string> names;
    std::vector<SweepRow> rows;
    Align align = Align::right; // of values: numbers, unless they are words
};

std::string sweep_text(const Sweep& sweep, const Paint& paint);
std::string sweep_json(const Sweep& sweep, const Paint& paint);

} // namespace shard
