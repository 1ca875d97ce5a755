#include "importer/shape/block_check.h"

#include "importer/shape/entry_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

namespace shard {

namespace {

class BlockCheck {
public:
    BlockCheck(const Draft& draft, const DraftReaders& readers, std::vector<std::vector<int>> entries)
        : draft_(draft), readers_(readers), block_(std::move(entries)), repetitions_(draft, readers, block_.entries) {}

    std::optional<DraftBlock> run() {
        for (size_t n = 0; n < block_.entries[0].size(); ++n) {
            const bool was_reversed = block_.is_reversed;
            if (is_entry_of_stack(n) && agree(n) && take_stack(n)) continue;
            block_.is_reversed = was_reversed;
            if (is_entry_written(n) && agree(n) && take_stacked(n)) continue;
            block_.is_reversed = was_reversed;
            if (begins_elsewhere(n)) take_beginning(n);
            for (size_t j = 0; j < entry(0, n).operands.size(); ++j)
                if (!take_operand(repetitions_.operands(n, j))) return std::nullopt;
        }
        // What is one number here and another there has two names.
        std::unordered_set<DraftId> listed;
        for (const DraftBlock::Numbers& own : block_.numbers)
            for (const DraftId number : std::set<DraftId>(own.read.begin(), own.read.end()))
                if (!listed.insert(number).second || same_numbers_.contains(number) ||
                    std::find(block_.shared.begin(), block_.shared.end(), number) != block_.shared.end())
                    return std::nullopt;
        const bool is_backward = block_.is_reversed && !block_.is_loop(); // which nothing says
        if ((block_.begins.empty() && block_.stacked.empty()) || (block_.is_loop() && !block_.params.empty()) ||
            is_backward || !is_closed())
            return std::nullopt;
        return block_;
    }

private:
    using Place = Repetitions::Place;

    size_t times() const { return repetitions_.times(); }
    const DraftEntry& entry(size_t repetition, size_t n) const { return repetitions_.entry(repetition, n); }
    Place place_of(DraftId value) const { return repetitions_.place_of(value); }

    bool take_operand(const std::vector<DraftId>& found) {
        if (take_numbers(found)) return true;
        if (draft_[found[0]].number) {
            same_numbers_.insert(found[1]);
            return true;
        }
        const Place first = place_of(found[0]), second = place_of(found[1]);
        if (first.repetition == 0) { // of the repetition itself
            for (size_t r = 1; r < times(); ++r) {
                const Place place = place_of(found[r]);
                if (place.repetition != static_cast<i64>(r) || !place.same_slot(first)) return false;
            }
            return true;
        }
        if (first.repetition > 0) return false;
        if (second.repetition == 0) return take_carried(found, second);
        if (std::all_of(found.begin(), found.end(), [&](DraftId value) { return value == found[0]; })) {
            if (std::find(block_.shared.begin(), block_.shared.end(), found[0]) == block_.shared.end())
                block_.shared.push_back(found[0]);
            return true;
        }
        return take_params(found);
    }

    // EntryKinds leaves out which number it is. One that is an entry of its own is a scalar.
    const std::optional<DraftNumber>& number_of(DraftId value) const {
        static const std::optional<DraftNumber> none;
        if (draft_[value].number) return draft_[value].number;
        return draft_.type(value).shape.empty() ? draft_[value].filled : none;
    }

    // Whether the operands are numbers that differ.
    bool take_numbers(const std::vector<DraftId>& found) {
        if (!std::all_of(found.begin(), found.end(), [&](DraftId value) { return number_of(value).has_value(); }))
            return false;
        const DType dtype = draft_.type(found[0]).dtype;
        std::vector<std::string> numbers;
        for (const DraftId number : found) numbers.push_back(number_text(dtype, *number_of(number)));
        if (std::count(numbers.begin(), numbers.end(), numbers[0]) == std::ssize(numbers)) return false;
        numbers_of(dtype, std::move(numbers)).read.push_back(found[1]);
        return true;
    }

    DraftBlock::Numbers& numbers_of(DType dtype, std::vector<std::string> numbers) {
        for (DraftBlock::Numbers& own : block_.numbers)
            if (own.dtype == dtype && own.numbers == numbers) return own;
        block_.numbers.push_back({dtype, std::move(numbers), {}});
        return block_.numbers.back();
    }

    // Whether it is a slice that begins elsewhere in some repetition.
    bool begins_elsewhere(size_t n) const {
        const std::optional<PartOfDim> first = part_of_dim(entry(0, n));
        return first &&
               std::any_of(block_.entries.begin(), block_.entries.end(), [&](const std::vector<int>& repetition) {
                   return part_of_dim(draft_.entry(static_cast<size_t>(repetition[n])))->start != first->start;
               });
    }

    void take_beginning(size_t n) {
        std::vector<std::string> numbers;
        for (size_t r = 0; r < times(); ++r) numbers.push_back(std::to_string(part_of_dim(entry(r, n))->start));
        DraftEntry part = entry(1, n);
        const PartOfDim of = *part_of_dim(part);
        const DraftId begin = -2 - block_.entries[1][n];
        numbers_of(DType::i32, std::move(numbers)).read.push_back(begin);
        part.op = "dynamic_slice";
        part.operands.push_back(begin);
        part.arguments = fmt::format(", dim: [{}], size: [{}]", of.dim, of.size);
        block_.rewritten.emplace(block_.entries[1][n], std::move(part));
    }

    bool take_carried(const std::vector<DraftId>& found, const Place& slot) {
        std::vector<DraftId> handed(found.begin() + 1, found.end());
        for (size_t r = 1; r < times(); ++r) {
            const Place place = place_of(found[r]);
            if (place.repetition != static_cast<i64>(r) - 1 || !place.same_slot(slot)) return false;
        }
        handed.push_back(entry(times() - 1, slot.entry).results[slot.result]);
        for (size_t c = 0; c < block_.begins.size(); ++c)
            if (block_.handed[c] == handed) return block_.begins[c] == found[0];
        block_.begins.push_back(found[0]);
        block_.handed.push_back(std::move(handed));
        return true;
    }

    // Every repetition has its own, which nothing else reads.
    bool take_params(const std::vector<DraftId>& found) {
        if (std::find(block_.params.begin(), block_.params.end(), found) != block_.params.end()) return true;
        if (!repetitions_.are_params(found)) return false;
        for (const DraftId param : found)
            for (const std::vector<DraftId>& other : block_.params)
                if (std::find(other.begin(), other.end(), param) != other.end()) return false;
        block_.params.push_back(found);
        return true;
    }

    // Slices that are told apart by nothing but the entry.
    bool is_entry_of_stack(size_t n) const {
        const std::optional<i64> first = entry_of_stack(draft_, entry(0, n));
        return first && first != entry_of_stack(draft_, entry(1, n));
    }

    bool is_entry_written(size_t n) const {
        const std::optional<i64> first = entry_written(draft_, entry(0, n));
        return first && first != entry_written(draft_, entry(1, n));
    }

    // EntryKinds leaves out which entry of a stack is read or written: all repetitions the same, or each another.
    bool agree(size_t n) const {
        for (const auto entry_number : {entry_of_stack, entry_written}) {
            const std::optional<i64> first = entry_number(draft_, entry(0, n));
            if (!first) continue;
            const i64 step = entry_number(draft_, entry(1, n)).value_or(*first) - *first;
            for (size_t r = 1; r < times(); ++r)
                if (entry_number(draft_, entry(r, n)) != *first + step * static_cast<i64>(r)) return false;
        }
        return true;
    }

    // All of a block go the same way, one entry after the other.
    bool take_direction(i64 first, i64 second) {
        const bool is_reversed = second < first;
        const bool has_direction = !block_.stacks.empty() || !block_.over.empty() || !block_.stacked.empty();
        if (second != first + (is_reversed ? -1 : 1) || (has_direction && block_.is_reversed != is_reversed))
            return false;
        block_.is_reversed = is_reversed;
        return true;
    }

    bool take_stack(size_t n) {
        const DraftId whole = entry(0, n).operands[0];
        const i64 count = draft_.type(whole).shape[0], first = *entry_of_stack(draft_, entry(0, n));
        if (!take_direction(first, *entry_of_stack(draft_, entry(1, n)))) return false;
        DraftBlock::Stack stack{whole, {}, {}};
        for (size_t r = 0; r < times(); ++r) {
            if (entry(r, n).operands[0] != whole) return false;
            const DraftId slice = entry(r, n).results[0];
            const std::vector<int>& readers = readers_[static_cast<size_t>(slice)];
            if (readers.size() != 1 || readers[0] < 0) return false;
            const DraftEntry& reader = draft_.entry(static_cast<size_t>(readers[0]));
            Shape without = draft_.type(slice).shape;
            without.erase(without.begin());
            if (reader.op != "reshape" || draft_.type(reader.results[0]).shape != without ||
                place_of(reader.results[0]).repetition != static_cast<i64>(r))
                return false;
            stack.slices.push_back(slice);
            stack.read.push_back(reader.results[0]);
        }
        // A parameter that nothing else reads is the block's own.
        if (draft_[whole].is_param && count == block_.times() && readers_[static_cast<size_t>(whole)].size() == times())
            block_.stacks.push_back(std::move(stack));
        else if (place_of(whole).repetition < 0)
            block_.over.push_back({whole, first, std::move(stack.slices), std::move(stack.read)});
        else
            return false;
        return true;
    }

    bool take_stacked(size_t n) {
        DraftBlock::Stacked stacked{entry(0, n).operands[0], *entry_written(draft_, entry(0, n)), {}, {}, {}};
        if (!take_direction(stacked.first, *entry_written(draft_, entry(1, n)))) return false;
        if (place_of(stacked.before).repetition >= 0) return false;
        for (size_t r = 0; r < times(); ++r) {
            const DraftEntry& writes = entry(r, n);
            const DraftId slice = writes.operands[1], after = writes.results[0];
            const DraftEntry* const reshape = draft_.entry_of(slice);
            if (r > 0 && writes.operands[0] != stacked.after.back()) return false;
            if (r + 1 < times() && readers_[static_cast<size_t>(after)].size() != 1) return false;
            if (reshape == nullptr || reshape->op != "reshape" || readers_[static_cast<size_t>(slice)].size() != 1 ||
                place_of(slice).repetition != static_cast<i64>(r) || draft_[reshape->operands[0]].number)
                return false;
            Shape without = draft_.type(slice).shape;
            without.erase(without.begin());
            if (draft_.type(reshape->operands[0]).shape != without) return false;
            stacked.made.push_back(reshape->operands[0]);
            stacked.slices.push_back(slice);
            stacked.after.push_back(after);
        }
        block_.stacked.push_back(std::move(stacked));
        return true;
    }

    // Nothing outside reads from the middle, nor a repetition from another but what the one before hands on; what is
    // read within has been seen from the side of the reader.
    bool is_closed() const {
        for (const auto& [value, place] : repetitions_.places())
            for (const int reader : readers_[static_cast<size_t>(value)]) {
                if (repetitions_.repetition_of(reader) >= 0) continue;
                if (std::any_of(block_.stacked.begin(), block_.stacked.end(),
                                [value = value](const DraftBlock::Stacked& s) { return s.after.back() == value; }))
                    continue;
                if (place.repetition != static_cast<i64>(times()) - 1 ||
                    std::none_of(
                        block_.handed.begin(), block_.handed.end(),
                        [value = value](const std::vector<DraftId>& handed) { return handed.back() == value; }))
                    return false;
            }
        return true;
    }

    const Draft& draft_;
    const DraftReaders& readers_;
    DraftBlock block_;
    const Repetitions repetitions_;            // of the entries of block_
    std::unordered_set<DraftId> same_numbers_; // of the second repetition
};

} // namespace

DraftReaders readers_of(const Draft& draft, const std::vector<bool>& needed, const std::vector<DraftId>& results) {
    DraftReaders readers(static_cast<size_t>(draft.value_count()));
    for (size_t i = 0; i < needed.size(); ++i)
        if (needed[i])
            for (const DraftId operand : draft.entry(i).operands)
                readers[static_cast<size_t>(operand)].push_back(static_cast<int>(i));
    for (const DraftId result : results) readers[static_cast<size_t>(result)].push_back(-1);
    return readers;
}

std::optional<DraftBlock> block_of(const Draft& draft, const DraftReaders& readers,
                                   std::vector<std::vector<int>> entries) {
    return entries.size() < 2 ? std::nullopt : BlockCheck(draft, readers, std::move(entries)).run();
}

} // namespace shard
