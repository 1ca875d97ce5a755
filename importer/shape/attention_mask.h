// What a mask of attention says of query i and key j, read from how it is computed: comparisons of positions, of
// segments, and the rest, all of which have to hold for the query to see the key.
//
//     and(ge(i, j), mask)      low 0, and the rest: mask
//     eq(s[:, None], s[None])  segments: s
#pragma once

#include "importer/shape/factored_dims.h"

namespace shard {

struct AttentionMask {
    struct Part {
        DraftId value = -1;
        FactorDims dims;
        bool is_negated = false; // the query sees the key where it is false; of a number, where it is not above 0
    };
    std::optional<i64> low, high; // low <= i - j <= high
    Factors queries;              // the dims that i counts, if it was compared
    Part segments;                // of queries, and the same of keys
    std::vector<Part> compared;   // what low and high stand for
    std::vector<Part> rest;

    bool is_plain() const { return rest.empty(); }
};

class AttentionMaskReader {
public:
    AttentionMaskReader(const Draft& draft, FactoredDims& factors, Factors keys)
        : draft_(draft), factors_(factors), keys_(std::move(keys)) {}

    // Of a bool value.
    AttentionMask read(const AttentionMask::Part& mask);
    // Of what is added to scores, if that is one number where the key is hidden, and 0 elsewhere.
    struct Added {
        AttentionMask mask;
        double number = 0;
    };
    std::optional<Added> read_added(DraftId value, const FactorDims& dims);

private:
    void read_truth(const AttentionMask::Part& part, AttentionMask& into);
    bool read_number(const AttentionMask::Part& part, AttentionMask& into); // of what is true if it is not 0
    bool read_positive(const AttentionMask::Part& part, AttentionMask& into);
    bool read_comparison(const AttentionMask::Part& part, AttentionMask& into);
    bool read_segments(const AttentionMask::Part& part, AttentionMask& into);

    AttentionMask::Part operand(const AttentionMask::Part& part, size_t i, bool negate = false) const;
    // Without what only moves it.
    AttentionMask::Part source(AttentionMask::Part part);

    // first + the place along dims
    struct Position {
        Factors along;
        i64 first = 0;
    };
    std::optional<Position> position(const AttentionMask::Part& part);
    std::optional<std::pair<Position, Position>> compared(const AttentionMask::Part& part);

    const Draft& draft_;
    FactoredDims& factors_;
    Factors keys_;
    int left_ = 300; // entries that are looked at: masks are small, and what is read many times is read as often
};

} // namespace shard
