// From the result of attention up to q, k and v: what is multiplied, and what stands between the products.
#pragma once

#include "importer/shape/factored_dims.h"
#include "importer/shape/taking.h"

#include <array>

namespace shard {

struct AttentionScores {
    struct Array {
        DraftId value = -1;
        FactorDims dims;
    };
    // What is done to scores: a bias that is added, or a number in place of those that are hidden.
    struct Term {
        Array bias;
        Array mask;              // bool, if it is a mask
        bool is_negated = false; // hidden where it is true
        DraftId number = -1;
    };
    // Which weights are dropped, if some are: by a bernoulli under a key, by whose probability the others are divided.
    struct Drop {
        DraftId key = -1;
        FactorDims dims; // of what is drawn
        double probability = 1;
        bool is_legacy = false;
    };
    Array result, q, k, v;
    Factors keys, width, value_width; // of the products; none if it is 1
    std::vector<Term> terms;          // the last first
    // A mask by which weights are 0 after the softmax, if there is one; where is_negated, where it is true.
    Term zeroed;
    Drop drop;
    double scale = 1, soft_cap = 0;
    DType dtype = DType::f32; // of q, k, v and the result
};

// nullopt if the entry makes something else.
std::optional<AttentionScores> attention_scores(Taking& taking, FactoredDims& factors, const DraftEntry& root);

} // namespace shard
