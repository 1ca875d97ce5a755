#include "importer/shape/called_block.h"

#include "importer/shape/entry_kind.h"

#include <algorithm>
#include <unordered_set>

namespace shard {

namespace {

class CalledCheck {
public:
    CalledCheck(const Draft& draft, const DraftReaders& readers, std::vector<std::vector<int>> entries,
                DraftShapes shapes)
        : draft_(draft), readers_(readers), block_(std::move(entries)), repetitions_(draft, readers, block_.entries) {
        block_.has_any_shapes = shapes == DraftShapes::any;
    }

    std::optional<DraftBlock> run() {
        for (size_t n = 0; n < block_.entries[0].size(); ++n) {
            if (!is_same_part(n)) return std::nullopt;
            for (size_t j = 0; j < entry(0, n).operands.size(); ++j)
                if (!take_operand(repetitions_.operands(n, j))) return std::nullopt;
            take_results(n);
        }
        if (block_.given.empty() || block_.returned.empty() || !has_one_name_each()) return std::nullopt;
        return block_;
    }

private:
    size_t times() const { return repetitions_.times(); }
    const DraftEntry& entry(size_t repetition, size_t n) const { return repetitions_.entry(repetition, n); }

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
        const Repetitions::Place first = repetitions_.place_of(found[0]);
        for (size_t r = 0; r < times(); ++r) {
            const Repetitions::Place place = repetitions_.place_of(found[r]);
            const bool is_own = place.repetition == static_cast<i64>(r);
            if (is_own != (first.repetition == 0) || (is_own && !place.same_slot(first))) return false;
        }
        if (first.repetition == 0) return true;
        if (std::all_of(found.begin(), found.end(), [&](DraftId value) { return value == found[0]; }))
            add(block_.shared, found[0]);
        else if (!block_.has_any_shapes && repetitions_.are_params(found))
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

    // What is read elsewhere of any repetition is returned by all.
    void take_results(size_t n) {
        for (size_t i = 0; i < entry(0, n).results.size(); ++i) {
            std::vector<DraftId> made;
            bool is_read = false;
            for (size_t r = 0; r < times(); ++r) {
                made.push_back(entry(r, n).results[i]);
                const std::vector<int>& readers = readers_[static_cast<size_t>(made.back())];
                is_read = is_read || std::any_of(readers.begin(), readers.end(), [&](int reader) {
                              return repetitions_.repetition_of(reader) != static_cast<i64>(r);
                          });
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
    const Repetitions repetitions_;            // of the entries of block_
    std::unordered_set<DraftId> same_numbers_; // of the second repetition
};

} // namespace

std::optional<DraftBlock> called_block_of(const Draft& draft, const DraftReaders& readers,
                                          std::vector<std::vector<int>> entries, DraftShapes shapes) {
    return entries.size() < 2 ? std::nullopt : CalledCheck(draft, readers, std::move(entries), shapes).run();
}

} // namespace shard
