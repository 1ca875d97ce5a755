#include "importer/shape/update_calls.h"

#include "importer/shape/called_block.h"
#include "plans/kernel/scalar.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

namespace shard {

namespace {

constexpr size_t least_entries = 3; // of an update
constexpr size_t least_saved = 8;   // entries that are written once

bool goes_by_element(const DraftEntry& entry) {
    constexpr std::string_view others[] = {"and", "or", "not", "cast", "square", "clamp"};
    const bool is_known = parse_scalar_op(entry.op).has_value() ||
                          std::find(std::begin(others), std::end(others), entry.op) != std::end(others);
    return is_known && entry.region == nullptr && entry.literal.empty() && entry.results.size() == 1;
}

class UpdateSearch {
public:
    UpdateSearch(const Draft& draft, const DraftReaders& readers, const std::vector<int>& entries)
        : draft_(draft), readers_(readers), entries_(entries), is_update_(draft.entry_count()),
          leads_to_update_(draft.entry_count()), update_(draft.entry_count()) {}

    std::vector<DraftBlock> run() {
        for (size_t i = entries_.size(); i-- > 0;) {
            is_update_[at(i)] = is_of_results(entry(i));
            leads_to_update_[at(i)] = leads_to_update(entry(i));
        }
        std::iota(update_.begin(), update_.end(), 0);
        for (size_t i = 0; i < entries_.size(); ++i)
            if (is_update_[at(i)] && !is_scalar(result(i))) join_operands(i);
        for (size_t i = entries_.size(); i-- > 0;)
            if (is_update_[at(i)] && is_scalar(result(i))) take_scalar(i);
        return blocks();
    }

private:
    size_t at(size_t i) const { return static_cast<size_t>(entries_[i]); }
    const DraftEntry& entry(size_t i) const { return draft_.entry(at(i)); }
    DraftId result(size_t i) const { return entry(i).results[0]; }
    bool is_scalar(DraftId value) const { return draft_.type(value).shape.empty(); }
    // The entry of an update that makes it, or -1.
    int made_by(DraftId value) const {
        const int made = draft_[value].entry;
        return made >= 0 && is_update_[static_cast<size_t>(made)] ? made : -1;
    }

    bool is_of_results(const DraftEntry& entry) const {
        if (!goes_by_element(entry)) return false;
        const Shape& shape = draft_.type(entry.results[0]).shape;
        const std::vector<int>& readers = readers_[static_cast<size_t>(entry.results[0])];
        return std::all_of(entry.operands.begin(), entry.operands.end(),
                           [&](DraftId operand) {
                               return draft_[operand].number || is_scalar(operand) ||
                                      draft_.type(operand).shape == shape;
                           }) &&
               are_behind(readers, shape.empty());
    }

    // Whether updates or who asks for a step read a value, and all else that does stands behind them: anything where the
    // step returns it, else what makes one number of it, as a norm. A number is of an update that alone reads it.
    bool are_behind(const std::vector<int>& readers, bool is_number) const {
        const auto is_own = [&](int reader) {
            return reader < 0 ? !is_number : is_update_[static_cast<size_t>(reader)];
        };
        const bool is_returned = std::find(readers.begin(), readers.end(), -1) != readers.end();
        return std::any_of(readers.begin(), readers.end(), is_own) &&
               std::all_of(readers.begin(), readers.end(), [&](int reader) {
                   if (is_own(reader)) return true;
                   return reader >= 0 && !is_number && !leads_to_update_[static_cast<size_t>(reader)] &&
                          (is_returned || is_scalar(draft_.entry(static_cast<size_t>(reader)).results[0]));
               });
    }

    bool leads_to_update(const DraftEntry& entry) const {
        return std::any_of(entry.results.begin(), entry.results.end(), [&](DraftId result) {
            const std::vector<int>& readers = readers_[static_cast<size_t>(result)];
            return std::any_of(readers.begin(), readers.end(), [&](int reader) {
                return reader >= 0 &&
                       (is_update_[static_cast<size_t>(reader)] || leads_to_update_[static_cast<size_t>(reader)]);
            });
        });
    }

    // The entry that stands for all of its update.
    int update_of(int entry) {
        int& next = update_[static_cast<size_t>(entry)];
        if (next != entry) next = update_of(next);
        return next;
    }

    void join_operands(size_t i) {
        for (const DraftId operand : entry(i).operands)
            if (const int made = made_by(operand); made >= 0 && !is_scalar(operand))
                update_[static_cast<size_t>(update_of(made))] = update_of(entries_[i]);
    }

    // A scalar that one update alone reads is of it; others are made before all of them.
    void take_scalar(size_t i) {
        const std::vector<int>& readers = readers_[static_cast<size_t>(result(i))];
        const bool is_read = !readers.empty() && readers[0] >= 0 && is_update_[static_cast<size_t>(readers[0])];
        const int one = is_read ? update_of(readers[0]) : -1;
        const bool is_of_one =
            is_read && std::all_of(readers.begin(), readers.end(), [&](int reader) {
                return reader >= 0 && is_update_[static_cast<size_t>(reader)] && update_of(reader) == one;
            });
        if (is_of_one)
            update_[at(i)] = one;
        else
            is_update_[at(i)] = false;
    }

    std::vector<DraftBlock> blocks() {
        std::vector<int> order; // of updates, by their first entries
        std::unordered_map<int, std::vector<int>> by_update;
        for (size_t i = 0; i < entries_.size(); ++i) {
            if (!is_update_[at(i)]) continue;
            std::vector<int>& of = by_update[update_of(entries_[i])];
            if (of.empty()) order.push_back(update_of(entries_[i]));
            of.push_back(entries_[i]);
        }
        std::vector<std::vector<std::vector<int>>> alike;
        std::map<std::string, size_t> known;
        for (const int update : order) {
            std::vector<int>& of = by_update[update];
            if (of.size() < least_entries || !reads_input(of)) continue;
            const size_t kind = known.try_emplace(text_of(of), alike.size()).first->second;
            if (kind == alike.size()) alike.emplace_back();
            alike[kind].push_back(std::move(of));
        }
        std::vector<DraftBlock> found;
        for (std::vector<std::vector<int>>& updates : alike) {
            if ((updates.size() - 1) * updates[0].size() < least_saved) continue;
            if (std::optional<DraftBlock> block =
                    called_block_of(draft_, readers_, std::move(updates), DraftShapes::any))
                found.push_back(std::move(*block));
        }
        return found;
    }

    bool reads_input(const std::vector<int>& update) const {
        return std::any_of(update.begin(), update.end(), [&](int number) {
            const std::vector<DraftId>& operands = draft_.entry(static_cast<size_t>(number)).operands;
            return std::any_of(operands.begin(), operands.end(),
                               [&](DraftId operand) { return draft_[operand].is_input && !is_scalar(operand); });
        });
    }

    // What it does, but for the shapes.
    std::string text_of(const std::vector<int>& update) const {
        std::string text;
        std::unordered_map<DraftId, size_t> made;
        const auto type = [&](DraftId value) {
            return fmt::format("{}{}", static_cast<int>(draft_.type(value).dtype), is_scalar(value) ? "" : "s");
        };
        for (const int number : update) {
            const DraftEntry& entry = draft_.entry(static_cast<size_t>(number));
            text += fmt::format("{}{} {}", entry.op, entry.arguments, type(entry.results[0]));
            for (const DraftId operand : entry.operands) {
                const DraftValue& value = draft_[operand];
                const auto it = made.find(operand);
                if (it != made.end())
                    text += fmt::format(" @{}", it->second);
                else if (value.number)
                    text += fmt::format(" ={} {}", number_text(value.type.dtype, *value.number), type(operand));
                else
                    text += " " + type(operand);
            }
            text += "|";
            made.emplace(entry.results[0], made.size());
        }
        return text;
    }

    const Draft& draft_;
    const DraftReaders& readers_;
    const std::vector<int>& entries_;
    std::vector<bool> is_update_, leads_to_update_; // by entry: of some update; read, in the end, by one
    std::vector<int> update_; // by entry, another of the same update, up to one that stands for all
};

} // namespace

std::vector<DraftBlock> update_calls(const Draft& draft, const DraftReaders& readers, const std::vector<int>& entries) {
    return UpdateSearch(draft, readers, entries).run();
}

} // namespace shard
