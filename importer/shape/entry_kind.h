// What an entry of a draft does, without what it does it to: a number that is the same for entries that are alike.
#pragma once

#include "importer/model/draft.h"

#include <map>
#include <optional>
#include <string>

namespace shard {

// {slice: w, dim: [0], start: [3], limit: [4]}: entry 3 of a stack.
std::optional<i64> entry_of_stack(const Draft& draft, const DraftEntry& entry);
// {dynamic_update_slice: [w, part, 3], dim: [0]}, the part of size 1 there: it writes entry 3.
std::optional<i64> entry_written(const Draft& draft, const DraftEntry& entry);

// {slice: w, dim: [1], start: [3], limit: [5]}: a part of one dim.
struct PartOfDim {
    i64 dim = 0, start = 0, size = 0;
};
std::optional<PartOfDim> part_of_dim(const DraftEntry& entry);

class EntryKinds {
public:
    // Whether it counts which entry of a stack is read or written, where a part begins, and which number an operand is.
    enum class Stacks { alike, apart };
    EntryKinds(const Draft& draft, Stacks stacks) : draft_(draft), stacks_(stacks) {}

    // Op, literal, arguments, numbers among the operands, types of operands and results.
    int of(const DraftEntry& entry);

private:
    std::string text_of(const DraftEntry& entry) const;
    static std::string text_of(const DraftRegion& region);

    const Draft& draft_;
    Stacks stacks_;
    std::map<std::string, int> kinds_;
};

} // namespace shard
