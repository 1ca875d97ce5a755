#include "importer/model/transposed.h"

#include "importer/model/arguments.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

DraftId transposed(Draft& draft, DraftId value, std::vector<i64> order) {
    if (const DraftEntry* const above = draft.sure_entry_of(value); above != nullptr && above->op == "transpose") {
        const std::vector<i64> before = listed(above->arguments, "permutation");
        for (i64& dim : order) dim = before[static_cast<size_t>(dim)];
        value = above->operands[0];
    }
    if (std::is_sorted(order.begin(), order.end())) return value;
    DraftType type = draft.type(value);
    for (size_t i = 0; i < order.size(); ++i) type.shape[i] = draft.type(value).shape[static_cast<size_t>(order[i])];
    if (draft[value].number) return draft.number(type, *draft[value].number);
    return draft.add("transpose", {value}, fmt::format(", permutation: {}", list_text(order)), type);
}

} // namespace shard
