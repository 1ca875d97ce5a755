#include "importer/shape/repeated_run.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

namespace shard {

namespace {

constexpr size_t most_periods = 64; // that are tried: those that occur most often

// Distances between what stands there and the same before it, by how often they occur. What a block has several times is
// a period away from none of its next places: it is looked for some places back, too.
std::vector<size_t> likely_periods(const std::vector<int>& sequence) {
    constexpr size_t most_places = 16;
    std::map<int, std::deque<size_t>> places; // the last ones
    std::map<size_t, size_t> count;
    for (size_t i = 0; i < sequence.size(); ++i) {
        std::deque<size_t>& before = places[sequence[i]];
        for (const size_t place : before) ++count[i - place];
        before.push_back(i);
        if (before.size() > most_places) before.pop_front();
    }
    std::vector<std::pair<size_t, size_t>> found; // how often, distance
    for (const auto& [distance, times] : count) found.emplace_back(times, distance);
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return a.first * a.second != b.first * b.second ? a.first * a.second > b.first * b.second : a.second < b.second;
    });
    std::vector<size_t> periods;
    for (const auto& [times, distance] : found)
        if (periods.size() < most_periods) periods.push_back(distance);
    return periods;
}

} // namespace

std::optional<RepeatedRun> longest_run(const std::vector<int>& sequence) {
    RepeatedRun best;
    bool any = false;
    for (const size_t period : likely_periods(sequence)) {
        size_t begin = 0;
        for (size_t i = 0; i + period <= sequence.size(); ++i) {
            if (i + period < sequence.size() && sequence[i] == sequence[i + period]) continue;
            const RepeatedRun run{begin, i + period, period};
            begin = i + 1;
            if (run.end - run.begin < 2 * period) continue;
            if (!any || run.saved() > best.saved() || (run.saved() == best.saved() && period < best.period)) best = run;
            any = true;
        }
    }
    return any ? std::optional<RepeatedRun>(best) : std::nullopt;
}

} // namespace shard
