// Entries by repetition, whose n-th are alike, and where in them a value is made.
#pragma once

#include "importer/model/draft.h"

#include <unordered_map>
#include <vector>

namespace shard {

// By value, the entries that read it, an entry as often as it does; results of the model count as read by entry -1.
using DraftReaders = std::vector<std::vector<int>>;

class Repetitions {
public:
    // In which repetition, -1 for none, by which of its entries, as which result.
    struct Place {
        i64 repetition = -1;
        size_t entry = 0, result = 0;
        bool same_slot(const Place& other) const { return entry == other.entry && result == other.result; }
    };

    Repetitions(const Draft& draft, const DraftReaders& readers, const std::vector<std::vector<int>>& entries);

    size_t times() const { return entries_.size(); }
    const DraftEntry& entry(size_t repetition, size_t n) const {
        return draft_.entry(static_cast<size_t>(entries_[repetition][n]));
    }
    const std::unordered_map<DraftId, Place>& places() const { return places_; }
    Place place_of(DraftId value) const;
    // Of the n-th entries, by repetition.
    std::vector<DraftId> operands(size_t n, size_t j) const;
    // In which repetition the reader is, -1 for none.
    i64 repetition_of(int reader) const;
    // Whether each is a parameter that its repetition alone reads.
    bool are_params(const std::vector<DraftId>& found) const;

private:
    const Draft& draft_;
    const DraftReaders& readers_;
    const std::vector<std::vector<int>>& entries_;
    std::unordered_map<DraftId, Place> places_;
};

} // namespace shard
