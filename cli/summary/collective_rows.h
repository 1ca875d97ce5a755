// The collectives of a report, as rows of those that are there for the same cause.
#pragma once

#include "cli/summary/detail.h"
#include "planner/explain/when.h"

namespace shard {

struct CollectiveRow {
    const CollectiveReport* first = nullptr; // of those that the row stands for
    std::string tensors, source;
    std::string cause, remedy; // a remedy stands in the first row that it is for
    Phase phase = Phase::forward;
    bool is_one_dim = true;   // all of them the same
    i64 count = 0, bytes = 0; // bytes sent by a device
    double seconds = 0, exposed_seconds = 0;
};

struct CollectiveRows {
    // By phase, in the order of the plan; if some are left out, those that take longest.
    std::vector<CollectiveRow> rows;
    size_t left_out = 0;
    std::vector<CollectiveRow> sums; // if some are left out, all by phase, axes and kind; only figures and `first`
    bool has_phases = false;         // several
    bool is_partly_hidden = false;   // a device waits for less than they take
};

// "365 collectives in 120 launches", where some begin together.
std::string collectives_text(const Report& report, std::span<const When> when);

// `when` is by collective, or empty where it is not asked for.
CollectiveRows collective_rows(std::span<const CollectiveReport> collectives, std::span<const When> when,
                               Detail detail);

// Over which links it goes, and how many devices each joins: "nvlink 8, network 2".
std::string links_text(const CollectiveReport& collective);

} // namespace shard
