#include "importer/shape/entry_kind.h"

#include <fmt/format.h>

#include <charconv>

namespace shard {

std::optional<i64> entry_of_stack(const Draft& draft, const DraftEntry& entry) {
    if (entry.op != "slice" || entry.operands.size() != 1) return std::nullopt;
    const Shape& whole = draft.type(entry.operands[0]).shape;
    const Shape& part = draft.type(entry.results[0]).shape;
    if (part.empty() || part[0] != 1 || whole[0] == 1) return std::nullopt;
    constexpr std::string_view begin = ", dim: [0], start: [";
    if (!entry.arguments.starts_with(begin)) return std::nullopt;
    i64 number = 0;
    const char* const end = entry.arguments.data() + entry.arguments.size();
    if (std::from_chars(entry.arguments.data() + begin.size(), end, number).ec != std::errc() ||
        entry.arguments != fmt::format("{}{}], limit: [{}]", begin, number, number + 1))
        return std::nullopt;
    return number;
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

int EntryKinds::of(const DraftEntry& entry) {
    std::string text = entry.op + "|" + entry.literal + "|";
    text += stacks_ == Stacks::alike && entry_of_stack(draft_, entry) ? "entry" : entry.arguments;
    const auto add = [&](DraftId value) {
        const DraftValue& of = draft_[value];
        text += fmt::format("|{} {}", static_cast<int>(of.type.dtype), list_text(of.type.shape));
        if (of.number) text += " = " + number_text(of.type.dtype, *of.number);
    };
    // Regions are alike if they are one.
    if (entry.region != nullptr) text += fmt::format("|region {}", entry.results[0]);
    for (size_t i = 0; i < entry.operands.size(); ++i)
        if (i != 2 || stacks_ == Stacks::apart || !entry_written(draft_, entry)) add(entry.operands[i]);
    text += "|";
    for (const DraftId result : entry.results) add(result);
    return kinds_.try_emplace(std::move(text), static_cast<int>(kinds_.size())).first->second;
}

} // namespace shard
