// Dims of values that transposes, reshapes and broadcasts make of each other, as the factors that they are made of.
//
//     (batch, length, width)            a b c
//     reshape to (batch, length, heads, kv)   c becomes c1 c2
//     transpose                         a c1 b c2
//
// One goes from a result up to what it is made of. A factor that a reshape splits is its parts from then on, wherever it
// was seen before. Dims of size 1 have no factors.
#pragma once

#include "importer/model/draft.h"

namespace shard {

using Factors = std::vector<int>;        // outer first
using FactorDims = std::vector<Factors>; // by dim

class FactoredDims {
public:
    int factor(i64 size); // a new one
    FactorDims fresh(const Shape& shape);
    Factors parts(const Factors& factors) const; // those that were split as their parts
    Factors all(const FactorDims& dims) const;   // the parts of all dims, in order
    i64 size(const Factors& factors) const;
    Shape shape(const FactorDims& dims) const;

    // Of what a transpose or a reshape takes, if it is one; of a broadcast too if it may repeat dims, whose factors are
    // then missing.
    struct Through {
        bool broadcasts = false, splits = true;
    };
    std::optional<FactorDims> above(const Draft& draft, const DraftEntry& entry, const FactorDims& made,
                                    Through through = {false, true});
    // Of an operand of an op that goes element by element: aligned at the last dim.
    FactorDims aligned(const Shape& operand, const Shape& result, const FactorDims& made) const;

private:
    std::optional<FactorDims> grouped(const Factors& factors, const Shape& shape, bool may_split);

    struct Factor {
        i64 size = 1;
        int outer = -1, inner = -1; // once it is split
    };
    std::vector<Factor> factors_;
};

} // namespace shard
