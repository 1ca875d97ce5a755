#include "importer/model/checkpointed.h"

#include <algorithm>

namespace shard {

bool is_checkpointed(const Draft& draft, const DraftBlock& block, const std::set<std::string>& lines) {
    constexpr std::string_view others[] = {"add",     "broadcast", "cast", "constrain",
                                           "reshape", "slice",     "sub",  "transpose"};
    bool any = false;
    for (const int number : block.entries[1]) {
        const DraftEntry& entry = draft.entry(static_cast<size_t>(number));
        if (std::find(std::begin(others), std::end(others), entry.op) != std::end(others)) continue;
        if (!lines.contains(entry.line)) return false;
        any = true;
    }
    return any;
}

} // namespace shard
