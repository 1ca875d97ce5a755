#include "importer/shape/repetitions.h"

#include <algorithm>

namespace shard {

Repetitions::Repetitions(const Draft& draft, const DraftReaders& readers, const std::vector<std::vector<int>>& entries)
    : draft_(draft), readers_(readers), entries_(entries) {
    for (size_t r = 0; r < entries.size(); ++r)
        for (size_t n = 0; n < entries[r].size(); ++n) {
            const std::vector<DraftId>& results = entry(r, n).results;
            for (size_t i = 0; i < results.size(); ++i) places_[results[i]] = {static_cast<i64>(r), n, i};
        }
}

Repetitions::Place Repetitions::place_of(DraftId value) const {
    const auto it = places_.find(value);
    return it == places_.end() ? Place() : it->second;
}

std::vector<DraftId> Repetitions::operands(size_t n, size_t j) const {
    std::vector<DraftId> found;
    for (size_t r = 0; r < times(); ++r) found.push_back(entry(r, n).operands[j]);
    return found;
}

i64 Repetitions::repetition_of(int reader) const {
    return reader < 0 ? -1 : place_of(draft_.entry(static_cast<size_t>(reader)).results[0]).repetition;
}

bool Repetitions::are_params(const std::vector<DraftId>& found) const {
    for (size_t r = 0; r < times(); ++r) {
        const std::vector<int>& readers = readers_[static_cast<size_t>(found[r])];
        if (!draft_[found[r]].is_param || std::count(found.begin(), found.end(), found[r]) != 1 ||
            std::any_of(readers.begin(), readers.end(),
                        [&](int reader) { return repetition_of(reader) != static_cast<i64>(r); }))
            return false;
    }
    return true;
}

} // namespace shard
