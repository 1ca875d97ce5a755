#include "importer/shape/constants.h"

#include "importer/shape/entry_kind.h"

#include <algorithm>
#include <map>

namespace shard {

std::vector<bool> constant_entries(const Draft& draft) {
    std::vector<bool> constant(draft.entry_count());
    for (size_t i = 0; i < constant.size(); ++i) {
        const std::vector<DraftId>& operands = draft.entry(i).operands;
        constant[i] = std::all_of(operands.begin(), operands.end(), [&](DraftId operand) {
            const DraftValue& value = draft[operand];
            return value.number.has_value() || (value.entry >= 0 && constant[static_cast<size_t>(value.entry)]);
        });
    }
    return constant;
}

void share_constants(Draft& draft) {
    const std::vector<bool> constant = constant_entries(draft);
    EntryKinds kinds(draft, EntryKinds::Stacks::apart);
    std::map<std::pair<int, std::vector<DraftId>>, DraftId> first; // what it does to what
    std::map<DraftId, DraftId> same;
    for (size_t i = 0; i < constant.size(); ++i) {
        const DraftEntry& entry = draft.entry(i);
        std::vector<DraftId> operands = entry.operands;
        for (DraftId& operand : operands)
            if (const auto it = same.find(operand); it != same.end()) operand = it->second;
        if (operands != entry.operands) draft.replace(i, entry.op, operands, entry.arguments);
        if (!constant[i] || entry.results.size() != 1) continue;
        // Numbers are values of their own, and are in the kind.
        for (DraftId& operand : operands)
            if (draft[operand].number) operand = -1;
        const auto [it, is_new] = first.try_emplace({kinds.of(entry), operands}, entry.results[0]);
        if (!is_new) same[entry.results[0]] = it->second;
    }
}

} // namespace shard
