#include "importer/shape/called_block.h"

#include "importer/shape/entry_kind.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace shard {

namespace {

class CalledCheck {
public:
    CalledCheck(const Draft& draft, const DraftReaders& readers, std::vector<std::vector<int>> entries)
        : draft_(draft), readers_(readers) {
        block_.entries = std::move(entries);
        for (size_t r = 0; r < block_.entries.size(); ++r)
            for (size_t n = 0; n < block_.entries[r].size(); ++n) {
                const std::vector<DraftId>& results = entry(r, n).results;
                for (size_t i = 0; i < results.size(); ++i) places_[results[i]] = {static_cast<i64>(r), n, i};
            }
    }

    std::optional<DraftBlock> run() {
        for (size_t n = 0; n < block_.entries[0].size(); ++n) {
            if (!is_same_part(n)) return std::nullopt;
            for (size_t j = 0; j < entry(0, n).operands.size(); ++j)
                if (!take_operand(operands(n, j))) return std::nullopt;
            take_results(n);
        }
        if (block_.given.empty() || block_.returned.empty() || !has_one_name_each()) return std::nullopt;
        return std::move(block_);
    }

private:
    // Where a value is made: in which repetition, by which of its entries, as which result.
    struct Place {
        i64 repetition = -1;
        size_t entry = 0, result = 0;
    };

    size_t times() const { return block_.entries.size(); }
    const DraftEntry& entry(size_t repetition, size_t n) const {
        return draft_.entry(static_cast<size_t>(block_.entries[repetition][n]));
    }
    Place place_of(DraftId value) const {
        const auto it = places_.find(value);
        return it == places_.end() ? Place() : it->second;
    }
    std::vector<DraftId> operands(size_t n, size_t j) const {
        std::vector<DraftId> found;
        for (size_t r = 0; r < times(); ++r) found.push_back(entry(r, n).operands[j]);
        return found;
    }

    // EntryKinds leaves out which part of an array is read or written.
    bool is_same_part(size_t n) const {
        const std::optional<PartOfDim> part = part_of_dim(entry(0, n));
        for (size_t r = 1; r < times(); ++r)
            if (entry_of_stack(draft_, entry(r, n)) != entry_of_stack(draft_, entry(0, n)) ||
                entry_written(draft_, entry(r, n)) != entry_written(draft_, entry(0, n)) ||
                (part && part_of_dim(entry(r, n))->start != part->start))
                return false;
        return true;
    }

    bool take_operand(const std::vector<DraftId>& found) {
        if (draft_[found[0]].number) return take_number(found);
        const Place first = place_of(found[0]);
        for (size_t r = 0; r < times(); ++r) {
            const Place place = place_of(found[r]);
            const bool is_own = place.repetition == static_cast<i64>(r);
            if (is_own != (first.repetition == 0) ||
                (is_own && (place.entry != first.entry || place.result != first.result)))
                return false;
        }
        if (first.repetition == 0) return true;
        if (std::all_of(found.begin(), found.end(), [&](DraftId value) { return value == found[0]; }))
            add(block_.shared, found[0]);
        else if (is_param(found))
            add(block_.params, found);
        else
            add(block_.given, found);
        return true;
    }

    bool take_number(const std::vector<DraftId>& found) {
        const DType dtype = draft_.type(found[0]).dtype;
        const std::string number = number_text(dtype, *draft_[found[0]].number);
        bool is_same = true;
        for (const DraftId value : found) {
            if (!draft_[value].number) return false;
            is_same = is_same && number_text(dtype, *draft_[value].number) == number;
        }
        if (is_same)
            same_numbers_.insert(found[1]);
        else
            add(block_.given, found);
        return is_same || dtype == DType::f32;
    }

    template<typename T>
    static void add(std::vector<T>& all, const T& one) {
        if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
    }

    // Each is a parameter that its repetition alone reads.
    bool is_param(const std::vector<DraftId>& found) const {
        for (size_t r = 0; r < times(); ++r) {
            if (!draft_[found[r]].is_param || std::count(found.begin(), found.end(), found[r]) != 1) return false;
            for (const int reader : readers_[static_cast<size_t>(found[r])])
                if (!is_of(reader, r)) return false;
        }
        return true;
    }

    // Whether the entry is one of the repetition.
    bool is_of(int reader, size_t r) const {
        return reader >= 0 &&
               place_of(draft_.entry(static_cast<size_t>(reader)).results[0]).repetition == static_cast<i64>(r);
    }

    // What is read elsewhere of any repetition is returned by all.
    void take_results(size_t n) {
        for (size_t i = 0; i < entry(0, n).results.size(); ++i) {
            std::vector<DraftId> made;
            bool is_read = false;
            for (size_t r = 0; r < times(); ++r) {
                made.push_back(entry(r, n).results[i]);
                const std::vector<int>& readers = readers_[static_cast<size_t>(made.back())];
                is_read = is_read ||
                          !std::all_of(readers.begin(), readers.end(), [&](int reader) { return is_of(reader, r); });
            }
            if (is_read) block_.returned.push_back(std::move(made));
        }
    }

    // The module's text is the second repetition's: nothing that it reads is two inputs. A parameter of its own is not
    // given to it, too.
    bool has_one_name_each() const {
        std::unordered_set<DraftId> named = same_numbers_, own;
        for (const DraftId value : block_.shared)
            if (!named.insert(value).second) return false;
        for (const auto* lists : {&block_.params, &block_.given})
            for (const std::vector<DraftId>& values : *lists)
                if (!named.insert(values[1]).second) return false;
        for (const std::vector<DraftId>& values : block_.params) own.insert(values.begin(), values.end());
        return std::none_of(block_.given.begin(), block_.given.end(), [&](const std::vector<DraftId>& values) {
            return std::any_of(values.begin(), values.end(), [&](DraftId value) { return own.contains(value); });
        });
    }

    const Draft& draft_;
    const DraftReaders& readers_;
    DraftBlock block_;
    std::unordered_map<DraftId, Place> places_;
    std::unordered_set<DraftId> same_numbers_; // of the second repetition
};

} // namespace

std::optional<DraftBlock> called_block_of(const Draft& draft, const DraftReaders& readers,
                                          std::vector<std::vector<int>> entries) {
    return entries.size() < 2 ? std::nullopt : CalledCheck(draft, readers, std::move(entries)).run();
}

} // namespace shard
