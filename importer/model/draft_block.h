// Entries of a draft that are the same several times in a row, but for the parameters that each repetition has: what a
// model file says once, as a module that is repeated, or called once for each repetition where each of them is given what
// no other is, or makes what is read elsewhere, as a cache's part or a gradient. importer/shape/ finds them.
#pragma once

#include "importer/model/draft.h"

#include <utility>

namespace shard {

// Repetition r takes what the one before it hands on; the first takes `begins`.
struct DraftBlock {
    DraftBlock() = default;
    explicit DraftBlock(std::vector<std::vector<int>> of) : entries(std::move(of)) {}

    std::vector<std::vector<int>> entries; // by repetition; the n-th entries of all are alike
    std::vector<DraftId> begins;
    std::vector<std::vector<DraftId>> handed; // by repetition, what goes to the next one, as many as `begins`
    std::vector<DraftId> shared;              // what all of them read
    std::vector<int> constants;               // entries that make what all of them read of constants
    std::vector<std::vector<DraftId>> params; // by parameter, that of each repetition
    // Of a loop, arrays of which repetition r reads entry r along dim 0, or the last first; by repetition, the slice,
    // and what it is without the dim.
    struct Stack {
        DraftId whole = -1;
        std::vector<DraftId> slices, read;
    };
    std::vector<Stack> stacks;
    // Values of which repetition r reads entry first + r along dim 0, or first - r; as a stack otherwise.
    struct Over {
        DraftId whole = -1;
        i64 first = 0;
        std::vector<DraftId> slices, read;
    };
    std::vector<Over> over;
    // What each repetition writes as entry first + r, or first - r, of a value that no other has written there: by
    // repetition what is written, the same with a dim in front, and the value afterwards.
    struct Stacked {
        DraftId before = -1;
        i64 first = 0;
        std::vector<DraftId> made, slices, after;
    };
    std::vector<Stacked> stacked;
    // Numbers that are others in each repetition, and what those are in the second; below -1 those that no value is.
    struct Numbers {
        DType dtype = DType::i32;
        std::vector<std::string> numbers; // by repetition, as they are written
        std::vector<DraftId> read;
    };
    std::vector<Numbers> numbers;
    std::map<int, DraftEntry> rewritten; // of the second repetition, what they are where they read such a number
    bool is_reversed = false;
    // Of calls, by input of the module what each is given, and by output what each returns; the rest is empty but for
    // `shared`, `constants` and `params`.
    std::vector<std::vector<DraftId>> given, returned;
    bool has_any_shapes = false; // of calls: the n-th values of all have one rank or another

    i64 times() const { return static_cast<i64>(entries.size()); }
    bool is_called() const { return !returned.empty(); }
    // Repetitions that have parameters of their own are written out.
    bool is_loop() const {
        return !stacks.empty() || !stacked.empty() || (params.empty() && !(over.empty() && numbers.empty()));
    }
    // The lowest of the entries that repetitions read or write.
    i64 lowest(i64 first) const { return is_reversed ? first - times() + 1 : first; }
};

// What a draft's text consists of, in order: the number of an entry, or of a block, counted from -1 down.
struct DraftOrder {
    std::vector<int> items;
    std::vector<DraftBlock> blocks;
};

} // namespace shard
