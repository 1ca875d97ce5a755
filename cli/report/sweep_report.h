// A model and a layout planned with each of several values: what `plan --set batch=64,128` prints, and `plan --fit batch`
// of the largest value that fits.
#pragma once

#include "cli/terminal/table.h"
#include "plans/plan/plan.h"

namespace shard {

struct SweepRow {
    std::vector<std::string> values; // of what is set, in the order of the sweep's names
    std::optional<Plan> plan;        // absent after an error
    std::string verdict;             // "fits", "does not fit", "E0313"
    bool is_good = false;
    // Of --fit: what the value is a multiple of, whether it fits, how much of it a second of steps works through, if steps
    // do (rows of a batch), and the next multiple.
    struct Next {
        std::string value, verdict;
        i64 peak = 0; // bytes; 0 if it cannot be planned
    };
    i64 unit = 0;
    bool has_largest = false;
    double a_second = 0;
    std::optional<Next> next = {};
};

struct Sweep {
    std::vector<std::string> names;
    std::vector<SweepRow> rows = {};
    Align align = Align::right; // of values: numbers, unless they are words
    std::string fitted = {};    // what --fit names, the last of the names; empty: every value is shown
};

std::string sweep_text(const Sweep& sweep, const Paint& paint);
std::string sweep_json(const Sweep& sweep, const Paint& paint);

} // namespace shard
