#include "importer/shape/blocks.h"

#include "importer/model/draft_region.h"
#include "importer/shape/block_check.h"
#include "importer/shape/called_block.h"
#include "importer/shape/constants.h"
#include "importer/shape/entry_kind.h"
#include "importer/shape/repeated_run.h"
#include "importer/shape/update_calls.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_set>

namespace shard {

namespace {

constexpr size_t least_saved = 8;  // lines; a block of two lines twice is no easier to read
constexpr size_t most_tries = 128; // beginnings of a run, of which a few repetitions are looked at first
constexpr size_t looked_at = 3;
constexpr size_t most_skipped = 40; // entries of the first repetition that are made for all
// A call that gives and returns more than this share of what it stands for is no easier to read.
constexpr size_t most_names(size_t entries) { return 2 * entries / 3; }
constexpr int most_runs = 100; // that are looked at, so that time is linear

// The number that tells a parameter from the one that is read in its place a repetition later: 3 of h_3_mlp_w, if that
// is h_4_mlp_w; -1 if they are one, -2 if they are told apart otherwise.
i64 own_number(const std::string& name, const std::string& next) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    size_t begin =
        static_cast<size_t>(std::mismatch(name.begin(), name.end(), next.begin(), next.end()).first - name.begin());
    if (begin == name.size() && begin == next.size()) return -1;
    while (begin > 0 && is_digit(name[begin - 1])) --begin;
    i64 number = -2;
    for (size_t i = begin; i < name.size() && is_digit(name[i]) && number < 1'000'000; ++i)
        number = std::max<i64>(number, 0) * 10 + (name[i] - '0');
    return number;
}

bool has_collective(const DraftEntry& entry) {
    if (entry.region == nullptr) return !entry.over.empty();
    for (size_t i = 0; i < entry.region->body.entry_count(); ++i)
        if (has_collective(entry.region->body.entry(i))) return true;
    return false;
}

// As constant_entries, but for what is made of one entry of a stack, as a loop over constants has another in each trip,
// of the zeros that a loop's state begins as, of tables, which layers share, and of what devices send each other.
std::vector<bool> made_of_constants(const Draft& draft) {
    std::vector<bool> constant = constant_entries(draft);
    for (size_t i = 0; i < constant.size(); ++i) {
        const DraftEntry& entry = draft.entry(i);
        constant[i] = constant[i] && !entry_of_stack(draft, entry) && !draft.is_table(entry.results[0]) &&
                      !has_collective(entry) &&
                      std::all_of(entry.operands.begin(), entry.operands.end(), [&](DraftId operand) {
                          const DraftValue& value = draft[operand];
                          return value.entry < 0 || (constant[static_cast<size_t>(value.entry)] &&
                                                     !(value.is_carried && is_floating(value.type.dtype)));
                      });
    }
    return constant;
}

// A part of the text that no block is found in yet.
using Segment = std::vector<int>;

class BlockSearch {
public:
    BlockSearch(const Draft& draft, const std::vector<DraftId>& results)
        : draft_(draft), results_(results), needed_(draft.needed_for(results)), constant_(made_of_constants(draft)),
          readers_(readers_of(draft, needed_, results)) {
        EntryKinds kinds(draft, EntryKinds::Stacks::alike);
        kinds_.resize(needed_.size());
        for (size_t i = 0; i < needed_.size(); ++i)
            if (needed_[i]) kinds_[i] = kinds.of(draft.entry(i));
    }

    DraftOrder run() {
        // What is made of constants is of no layer.
        Segment all;
        for (size_t i = 0; i < needed_.size(); ++i)
            if (needed_[i]) (constant_[i] ? order_.items : all).push_back(static_cast<int>(i));
        std::vector<DraftBlock> updates = update_calls(draft_, readers_, all);
        leave_out(updates, all);
        const Segment behind = taken_behind(updates, all);
        split(all);
        for (DraftBlock& block : updates) add(std::move(block));
        split(behind);
        if (order_.blocks.empty()) // as the program has it
            std::sort(order_.items.begin(), order_.items.end());
        else
            take_constants();
        return std::move(order_);
    }

private:
    struct Found {
        DraftBlock block;
        std::vector<int> before; // what the first repetition makes for all of them
        size_t begin = 0, end = 0;
    };

    void leave_out(const std::vector<DraftBlock>& blocks, Segment& segment) const {
        std::unordered_set<int> taken;
        for (const DraftBlock& block : blocks)
            for (const std::vector<int>& entries : block.entries) taken.insert(entries.begin(), entries.end());
        std::erase_if(segment, [&](int entry) { return taken.contains(entry); });
    }

    // What needs something that they make, in the end, is taken out of the segment.
    Segment taken_behind(const std::vector<DraftBlock>& blocks, Segment& segment) const {
        std::vector<bool> is_behind(needed_.size());
        for (const DraftBlock& block : blocks)
            for (const std::vector<int>& entries : block.entries)
                for (const int entry : entries) is_behind[static_cast<size_t>(entry)] = true;
        Segment behind;
        for (const int entry : segment) {
            const std::vector<DraftId>& operands = draft_.entry(static_cast<size_t>(entry)).operands;
            if (!std::any_of(operands.begin(), operands.end(), [&](DraftId operand) {
                    const int made = draft_[operand].entry;
                    return made >= 0 && is_behind[static_cast<size_t>(made)];
                }))
                continue;
            is_behind[static_cast<size_t>(entry)] = true;
            behind.push_back(entry);
        }
        std::erase_if(segment, [&](int entry) { return is_behind[static_cast<size_t>(entry)]; });
        return behind;
    }

    void add(DraftBlock block) {
        order_.blocks.push_back(std::move(block));
        order_.items.push_back(-static_cast<int>(order_.blocks.size()));
    }

    bool is_constant(DraftId value) const {
        return draft_[value].entry >= 0 && constant_[static_cast<size_t>(draft_[value].entry)];
    }

    // The entries that make them, in order.
    std::vector<int> makers(const std::vector<DraftId>& values) const {
        std::set<int> entries;
        std::vector<DraftId> left = values;
        while (!left.empty()) {
            const DraftId value = left.back();
            left.pop_back();
            if (!is_constant(value) || !entries.insert(draft_[value].entry).second) continue;
            const std::vector<DraftId>& operands = draft_.entry(static_cast<size_t>(draft_[value].entry)).operands;
            left.insert(left.end(), operands.begin(), operands.end());
        }
        return {entries.begin(), entries.end()};
    }

    // What blocks read of constants is made in them, and outside only if something there reads it.
    void take_constants() {
        std::vector<DraftId> outside;
        for (DraftBlock& block : order_.blocks) {
            std::vector<DraftId> constants;
            std::copy_if(block.shared.begin(), block.shared.end(), std::back_inserter(constants),
                         [&](DraftId value) { return is_constant(value); });
            std::erase_if(block.shared, [&](DraftId value) { return is_constant(value); });
            block.constants = makers(constants);
            outside.insert(outside.end(), block.begins.begin(), block.begins.end());
            for (const std::vector<DraftId>& given : block.given)
                outside.insert(outside.end(), given.begin(), given.end());
            for (const DraftBlock::Over& over : block.over) outside.push_back(over.whole);
            for (const DraftBlock::Stacked& stacked : block.stacked)
                if (draft_.type(stacked.before).shape[0] != block.times()) outside.push_back(stacked.before);
        }
        for (const int item : order_.items)
            if (item >= 0 && !constant_[static_cast<size_t>(item)]) {
                const std::vector<DraftId>& operands = draft_.entry(static_cast<size_t>(item)).operands;
                outside.insert(outside.end(), operands.begin(), operands.end());
            }
        outside.insert(outside.end(), results_.begin(), results_.end());
        const std::vector<int> made = makers(outside);
        std::erase_if(order_.items, [&](int item) {
            return item >= 0 && constant_[static_cast<size_t>(item)] &&
                   !std::binary_search(made.begin(), made.end(), item);
        });
    }

    // About as many as the text has for them.
    size_t lines(const Segment& segment, size_t begin, size_t end) const {
        size_t count = end - begin;
        for (size_t i = begin; i < end; ++i)
            if (const DraftEntry& entry = draft_.entry(static_cast<size_t>(segment[i])); entry.region != nullptr)
                count += entry.region->order.items.size();
        return count;
    }

    // Looks for blocks left and right of those that are found.
    void split(const Segment& segment) {
        std::vector<int> sequence;
        for (const int entry : segment) sequence.push_back(kinds_[static_cast<size_t>(entry)]);
        std::optional<RepeatedRun> run;
        if (lines(segment, 0, segment.size()) > least_saved && runs_++ < most_runs) run = longest_run(sequence);
        if (run && lines(segment, run->begin + run->period, run->end) < least_saved) run.reset(); // written once
        std::optional<Found> found = run ? block_in(segment, sequence, *run) : std::nullopt;
        if (run && !found) found = calls_in(segment, *run);
        if (!found) {
            if (run && run->end - run->begin < segment.size()) { // beside what is none
                const auto at = [&](size_t i) { return segment.begin() + static_cast<std::ptrdiff_t>(i); };
                split(Segment(segment.begin(), at(run->begin)));
                order_.items.insert(order_.items.end(), at(run->begin), at(run->end));
                split(Segment(at(run->end), segment.end()));
                return;
            }
            order_.items.insert(order_.items.end(), segment.begin(), segment.end());
            return;
        }
        Segment left(segment.begin(), segment.begin() + static_cast<std::ptrdiff_t>(found->begin));
        left.insert(left.end(), found->before.begin(), found->before.end());
        split(left);
        add(std::move(found->block));
        split(Segment(segment.begin() + static_cast<std::ptrdiff_t>(found->end), segment.end()));
    }

    // Where a repetition begins is not known of a run alone: where each reads the parameters of one layer.
    struct Beginning {
        size_t misfits = 0, at = 0; // reads of another layer's parameters
    };
    std::vector<Beginning> beginnings(const Segment& segment, const RepeatedRun& run) const {
        std::vector<i64> number; // by place in the run
        for (size_t i = run.begin; i + run.period < run.end; ++i) {
            const DraftEntry& one = draft_.entry(static_cast<size_t>(segment[i]));
            const DraftEntry& next = draft_.entry(static_cast<size_t>(segment[i + run.period]));
            i64 own = -1;
            for (size_t j = 0; j < one.operands.size(); ++j)
                if (const DraftValue& value = draft_[one.operands[j]]; own == -1 && value.is_param)
                    own = own_number(value.name, draft_[next.operands[j]].name);
            number.push_back(own);
        }
        std::vector<Beginning> ranked;
        const size_t most = std::min(run.period, run.end - run.begin - run.period);
        for (size_t begin = 0; begin < most; ++begin) {
            size_t misfits = 0;
            for (size_t repetition = begin; repetition < number.size(); repetition += run.period) {
                i64 first = -1;
                for (size_t i = repetition; i < std::min(repetition + run.period, number.size()); ++i) {
                    if (number[i] == -1) continue;
                    if (first < 0) first = number[i];
                    misfits += number[i] < 0;
                    misfits += number[i] != first;
                }
            }
            ranked.push_back({misfits, run.begin + begin});
        }
        std::stable_sort(ranked.begin(), ranked.end(),
                         [](const Beginning& a, const Beginning& b) { return a.misfits < b.misfits; });
        ranked.resize(std::min(ranked.size(), most_tries));
        return ranked;
    }

    // Of the beginnings that fit as well, the one of most repetitions.
    std::optional<Found> block_in(const Segment& segment, const std::vector<int>& sequence, const RepeatedRun& run) {
        std::optional<Found> best;
        size_t misfits = 0;
        for (const Beginning& beginning : beginnings(segment, run)) {
            if (best && beginning.misfits > misfits) break;
            std::optional<Found> found = block_from(segment, sequence, run, beginning.at);
            if (!found || (best && found->block.entries.size() <= best->block.entries.size())) continue;
            best = std::move(found);
            misfits = beginning.misfits;
        }
        return best;
    }

    // From `begin`, as many as there are or half of them, until they are calls.
    std::optional<Found> calls_from(const Segment& segment, const RepeatedRun& run, size_t begin, size_t most) {
        for (size_t count = std::min(most, (run.end - begin) / run.period); count >= 2; count /= 2) {
            std::vector<std::vector<int>> entries;
            const auto at = [&](size_t r) {
                return segment.begin() + static_cast<std::ptrdiff_t>(begin + r * run.period);
            };
            for (size_t r = 0; r < count; ++r) entries.emplace_back(at(r), at(r + 1));
            if (std::optional<DraftBlock> block = called_block_of(draft_, readers_, std::move(entries)))
                return Found{std::move(*block), {}, begin, begin + count * run.period};
        }
        return std::nullopt;
    }

    // Where the fewest values come in and go out is where a layer begins.
    std::optional<Found> calls_in(const Segment& segment, const RepeatedRun& run) {
        std::optional<size_t> best;
        size_t fewest = most_names(lines(segment, run.begin, run.begin + run.period)) + 1;
        for (const Beginning& beginning : beginnings(segment, run)) {
            const std::optional<Found> found = calls_from(segment, run, beginning.at, looked_at);
            const size_t names = found ? found->block.given.size() + found->block.returned.size() : fewest;
            if (names >= fewest) continue;
            best = beginning.at;
            fewest = names;
        }
        if (!best) return std::nullopt;
        std::optional<Found> found = calls_from(segment, run, *best, segment.size());
        const auto lines_of = [&](size_t begin, size_t end) { return lines(segment, begin, end); };
        const bool is_worth_it = found && lines_of(found->begin + run.period, found->end) >= least_saved &&
                                 found->block.given.size() + found->block.returned.size() <=
                                     most_names(lines_of(found->begin, found->begin + run.period));
        return is_worth_it ? std::move(found) : std::nullopt;
    }

    std::optional<Found> block_from(const Segment& segment, const std::vector<int>& sequence, const RepeatedRun& run,
                                    size_t begin) {
        std::vector<std::vector<int>> entries;
        size_t end = begin;
        for (; end + run.period <= run.end; end += run.period)
            entries.emplace_back(segment.begin() + static_cast<std::ptrdiff_t>(end),
                                 segment.begin() + static_cast<std::ptrdiff_t>(end + run.period));
        if (entries.size() > looked_at && !block_of(draft_, readers_, {entries.begin(), entries.begin() + looked_at}))
            return std::nullopt;
        Found found{{}, {}, begin, end};
        const auto is_block = [&](std::vector<std::vector<int>> repetitions) {
            size_t saved = 0;
            for (size_t r = 1; r < repetitions.size(); ++r) saved += lines(repetitions[r], 0, run.period);
            if (saved < least_saved) return false;
            std::optional<DraftBlock> block = block_of(draft_, readers_, std::move(repetitions));
            if (block) found.block = std::move(*block);
            return block.has_value();
        };
        if (const std::optional<std::vector<int>> first = repetition_before(segment, sequence, run, begin, found)) {
            std::vector<std::vector<int>> more = entries;
            more.insert(more.begin(), *first);
            if (is_block(std::move(more))) return found;
        }
        found.before.clear();
        found.begin = begin;
        return is_block(std::move(entries)) ? std::optional<Found>(std::move(found)) : std::nullopt;
    }

    // The repetition that ends before `begin`, if it makes something for all of them in between.
    std::optional<std::vector<int>> repetition_before(const Segment& segment, const std::vector<int>& sequence,
                                                      const RepeatedRun& run, size_t begin, Found& found) const {
        std::vector<int> taken;
        size_t i = begin, left = run.period;
        while (left > 0) {
            if (i == 0 || found.before.size() > most_skipped) return std::nullopt;
            --i;
            if (sequence[i] == sequence[begin + left - 1])
                taken.push_back(segment[i]), --left;
            else
                found.before.push_back(segment[i]);
        }
        found.begin = i;
        std::reverse(taken.begin(), taken.end());
        std::reverse(found.before.begin(), found.before.end());
        // What goes before the repetition may not read from it.
        std::unordered_set<DraftId> made;
        for (const int entry : taken)
            for (const DraftId result : draft_.entry(static_cast<size_t>(entry)).results) made.insert(result);
        for (const int entry : found.before)
            for (const DraftId operand : draft_.entry(static_cast<size_t>(entry)).operands)
                if (made.contains(operand)) return std::nullopt;
        return taken;
    }

    const Draft& draft_;
    const std::vector<DraftId>& results_;
    std::vector<bool> needed_, constant_;
    DraftReaders readers_;
    std::vector<int> kinds_;
    DraftOrder order_;
    int runs_ = 0;
};

} // namespace

DraftOrder ordered(const Draft& draft, const std::vector<DraftId>& results) {
    return BlockSearch(draft, results).run();
}

} // namespace shard
