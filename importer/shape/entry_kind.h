// What an entry of a draft does, without what it does it to: a number that is the same for entries that are alike.
#pragma once

#include "importer/model/draft.h"

#include <map>
#include <optional>
#include <string>

namespace shard {

// {slice: w, dim: [0], start: [3], limit: [4]} of an argument of the program: entry 3 of a stack.
std::optional<i64> entry_of_stack(const Draft& draft, const DraftEntry& entry);

class EntryKinds {
public:
    explicit EntryKinds(const Draft& draft) : draft_(draft) {}

    // Op, literal, arguments, numbers among the operands, types of operands and results. Which entry of a stack it is does not count.
    int of(const DraftEntry& entry);

private:
    const Draft& draft_;
    std::map<std::string, int> kinds_;
};

} // namespace shard
