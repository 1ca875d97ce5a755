// A convolution as products of matrices, one for each group: rows are places of the result, and terms of their sums are
// places of the window, with what else is kept or summed. Which element of the first operand a row and a term meet in is
// a sum of what they say.
//
// Where there is something between the elements of the first operand, places of the result that lie apart by so much
// meet elements with the same places of the window: they are a product of their own, so that nothing is multiplied by
// what is not there.
#pragma once

#include "plans/kernel/convolve_sizes.h"

#include <array>

namespace shard {

struct ConvolvePlace {
    i64 lhs = 0;             // offset in the first operand, but for its windows
    i64 other = 0;           // of a row in the result, of a term in the second operand
    std::array<i64, 3> at{}; // along each window, counted with what is between elements
};

class ConvolvePlaces {
public:
    ConvolvePlaces(const Convolve& kernel, std::span<const TensorType> inputs, const TensorType& output);

    struct Window {
        i64 limit = 0, unit = 1, stride = 0; // the last element's place, places per element, offset per element
    };
    const ConvolveSizes& sizes() const { return sizes_; }
    const std::vector<Window>& windows() const { return windows_; }
    // Offsets from group to group, and along the result's dim that the second operand has.
    i64 lhs_group() const { return lhs_group_; }
    i64 rhs_group() const { return rhs_group_; }
    i64 out_group() const { return out_group_; }
    i64 rhs_made() const { return rhs_made_; }
    i64 out_made() const { return out_made_; }
    // Whether terms that follow each other lie side by side in the first operand, rather than rows.
    bool terms_lie_together() const { return terms_lie_together_; }

    size_t products() const { return products_; }
    i64 rows(size_t product) const;
    i64 terms(size_t product) const;
    // In the order in which they lie in the result, and in the second operand.
    void list_rows(size_t product, i64 first, i64 count, std::vector<ConvolvePlace>& places) const;
    void list_terms(size_t product, i64 first, i64 count, std::vector<ConvolvePlace>& places) const;

private:
    struct Axis {
        i64 size = 1, lhs = 0, other = 0;
        int window = -1; // then `lhs` is not used: entries of its list are
    };
    struct Phase { // of one window
        std::vector<i64> outputs, places;
    };
    const Phase& phase(size_t product, size_t window) const;
    void list(const std::vector<Axis>& axes, bool of_rows, size_t product, i64 first, i64 count,
              std::vector<ConvolvePlace>& places) const;
    i64 size_of(const Axis& axis, bool of_rows, size_t product) const;

    std::vector<Slide> slides_;
    ConvolveSizes sizes_;
    std::vector<Window> windows_;
    i64 lhs_group_ = 0, rhs_group_ = 0, out_group_ = 0, rhs_made_ = 0, out_made_ = 0;
    bool terms_lie_together_ = true;
    size_t products_ = 1;
    std::vector<Axis> row_axes_, term_axes_; // outer before inner
    std::vector<std::vector<Phase>> phases_; // by window
};

} // namespace shard
