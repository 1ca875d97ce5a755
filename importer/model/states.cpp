#include "importer/model/states.h"

#include <algorithm>
#include <set>

namespace shard {

std::vector<bool> states_of(const Draft& draft, const std::vector<DraftId>& outputs, const DraftUpdates& updates) {
    std::vector<bool> found(static_cast<size_t>(draft.value_count()));
    std::set<DraftId> next;
    for (const auto& [input, value] : updates) next.insert(value);
    std::vector<DraftId> returned;
    std::copy_if(outputs.begin(), outputs.end(), std::back_inserter(returned),
                 [&](DraftId output) { return !next.contains(output); });
    if (returned.empty()) return found;
    for (const auto& [input, value] : updates) found[static_cast<size_t>(input)] = is_floating(draft.type(input).dtype);
    for (const DraftId output : returned) found[static_cast<size_t>(output)] = false;
    const std::vector<bool> needed = draft.needed_for(returned);
    for (size_t i = 0; i < draft.entry_count(); ++i)
        if (needed[i])
            for (const DraftId operand : draft.entry(i).operands) found[static_cast<size_t>(operand)] = false;
    return found;
}

} // namespace shard
