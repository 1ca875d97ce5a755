#include "importer/shape/entry_kind.h"

#include <fmt/format.h>

namespace shard {

std::optional<i64> entry_of_stack(const Draft& draft, const DraftEntry& entry) {
    if (entry.op != "slice" || entry.operands.size() != 1 || !draft[entry.operands[0]].is_param) return std::nullopt;
    const Shape& whole = draft.type(entry.operands[0]).shape;
    const Shape& part = draft.type(entry.results[0]).shape;
    if (part.empty() || part[0] != 1 || whole[0] == 1) return std::nullopt;
    for (i64 number = 0; number < whole[0]; ++number)
        if (entry.arguments == fmt::format(", dim: [0], start: [{}], limit: [{}]", number, number + 1)) return number;
    return std::nullopt;
}

int EntryKinds::of(const DraftEntry& entry) {
    std::string text = entry.op + "|" + entry.literal + "|";
    text += entry_of_stack(draft_, entry) ? "entry" : entry.arguments;
    const auto add = [&](DraftId value) {
        const DraftValue& of = draft_[value];
        text += fmt::format("|{} {}", static_cast<int>(of.type.dtype), list_text(of.type.shape));
        if (of.number) text += " = " + number_text(of.type.dtype, *of.number);
    };
    // Regions are alike if they are one.
    if (entry.region != nullptr) text += fmt::format("|region {}", entry.results[0]);
    for (const DraftId operand : entry.operands) add(operand);
    text += "|";
    for (const DraftId result : entry.results) add(result);
    return kinds_.try_emplace(std::move(text), static_cast<int>(kinds_.size())).first->second;
}

} // namespace shard
