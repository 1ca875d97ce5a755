#include "importer/shape/entry_kind.h"

#include "importer/model/draft_region.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

namespace shard {

namespace {

// The number behind `key`, from where `text` begins; what is behind it is left of the text.
std::optional<i64> take_number(std::string_view& text, std::string_view key) {
    if (!text.starts_with(key)) return std::nullopt;
    i64 number = 0;
    const auto [end, problem] = std::from_chars(text.data() + key.size(), text.data() + text.size(), number);
    if (problem != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return number;
}

} // namespace

std::optional<PartOfDim> part_of_dim(const DraftEntry& entry) {
    if (entry.op != "slice" || entry.operands.size() != 1) return std::nullopt;
    std::string_view text = entry.arguments;
    const std::optional<i64> dim = take_number(text, ", dim: ["), start = take_number(text, "], start: ["),
                             limit = take_number(text, "], limit: [");
    return dim && start && limit && text == "]" ? std::optional<PartOfDim>({*dim, *start, *limit - *start})
                                                : std::nullopt;
}

std::optional<i64> entry_of_stack(const Draft& draft, const DraftEntry& entry) {
    const std::optional<PartOfDim> part = part_of_dim(entry);
    return part && part->dim == 0 && part->size == 1 && draft.type(entry.operands[0]).shape[0] != 1
               ? std::optional(part->start)
               : std::nullopt;
}

std::optional<i64> entry_written(const Draft& draft, const DraftEntry& entry) {
    if (entry.op != "dynamic_update_slice" || entry.operands.size() != 3 || entry.arguments != ", dim: [0]")
        return std::nullopt;
    const Shape &whole = draft.type(entry.operands[0]).shape, &part = draft.type(entry.operands[1]).shape;
    const DraftValue& index = draft[entry.operands[2]];
    const std::optional<DraftNumber>& number = index.number ? index.number : index.filled;
    // Where it would begin beyond an end it begins at that end.
    if (!number || part[0] != 1 || whole[0] == 1 || number->integer < 0 || number->integer >= whole[0])
        return std::nullopt;
    return number->integer;
}

namespace {

// Whether a scalar that is computed can stand in place of a number among the operands.
bool may_be_computed(const Draft& draft, const DraftEntry& entry, const DraftValue& number) {
    if (number.type.dtype == DType::boolean) return false;
    return number.type.shape.empty() || std::any_of(entry.operands.begin(), entry.operands.end(), [&](DraftId other) {
               return !draft[other].number && draft.type(other).shape == draft.type(entry.results[0]).shape;
           });
}

} // namespace

int EntryKinds::of(const DraftEntry& entry) {
    return kinds_.try_emplace(text_of(entry), static_cast<int>(kinds_.size())).first->second;
}

// What the program of one device does, whatever its values are called.
std::string EntryKinds::text_of(const DraftRegion& region) {
    std::string text = fmt::format("{} {} {}", fmt::join(region.axes, " "), region.is_all, region.check);
    std::unordered_map<DraftId, size_t> numbers;
    for (const DraftRegion::Border& border : region.in) {
        text += " " + border.sharding;
        numbers.emplace(border.value, numbers.size());
    }
    std::vector<DraftId> left;
    for (const DraftRegion::Border& border : region.out) left.push_back(border.value);
    const EntryKinds kinds(region.body, Stacks::apart);
    const std::vector<bool> needed = region.body.needed_for(left);
    for (size_t i = 0; i < needed.size(); ++i) {
        if (!needed[i]) continue;
        const DraftEntry& entry = region.body.entry(i);
        text += "\n" + kinds.text_of(entry);
        for (const DraftId operand : entry.operands)
            if (!region.body[operand].number) text += fmt::format(" @{}", numbers.at(operand));
        for (const DraftId result : entry.results) numbers.emplace(result, numbers.size());
    }
    for (const DraftRegion::Border& border : region.out)
        text += fmt::format("\n@{} {}", numbers.at(border.value), border.sharding);
    return text;
}

std::string EntryKinds::text_of(const DraftEntry& entry) const {
    std::string text = entry.op + "|" + entry.literal + "|";
    const std::optional<PartOfDim> part = stacks_ == Stacks::alike ? part_of_dim(entry) : std::nullopt;
    text += part ? fmt::format("part of {}", part->dim) : entry.arguments;
    const auto add = [&](DraftId value) {
        const DraftValue& of = draft_[value];
        text += fmt::format("|{} {}", static_cast<int>(of.type.dtype), list_text(of.type.shape));
        if (of.number)
            text += stacks_ == Stacks::alike && may_be_computed(draft_, entry, of)
                        ? " = #"
                        : " = " + number_text(of.type.dtype, *of.number);
    };
    if (entry.region != nullptr) text += fmt::format("|region {}", text_of(*entry.region));
    for (size_t i = 0; i < entry.operands.size(); ++i)
        if (i != 2 || stacks_ == Stacks::apart || !entry_written(draft_, entry)) add(entry.operands[i]);
    text += "|";
    for (const DraftId result : entry.results) add(result);
    return text;
}

} // namespace shard
