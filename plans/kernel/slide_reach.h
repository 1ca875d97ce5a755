// What windows that slide along a dim meet (plans/kernel/slide.h): which sizes fit each other, how much there is to
// compute, and what a device reads where the dim is split.
#pragma once

#include "plans/kernel/slide.h"

#include <optional>
#include <string>
#include <vector>

namespace shard {

// Along one dim: of the operand, the window and the result.
struct SlideSizes {
    i64 input = 1, window = 1, output = 1;
};

// Of so many elements with others between them; at least 1 element. Saturates.
i64 dilated_size(i64 size, i64 dilation);
// How many places the window has where `high` is added behind the operand; nullopt if none, or more than can be counted.
std::optional<i64> slid_size(const Slide& slide, i64 input, i64 window, i64 high);
// The least to be added behind the operand for a result of this size; negative where elements are left over.
i64 high_of(const Slide& slide, const SlideSizes& sizes);
// "" if places can be computed with, else what cannot. The others are for those.
std::string slide_problem(const Slide& slide, const SlideSizes& sizes);

// Pairs of a place of the result and one of the window that meet an element; where both sides have more than 4096
// places, all pairs. Saturates.
i64 meeting_pairs(const Slide& slide, const SlideSizes& sizes);

// Where the result's dim, or the window's, is split into equal parts: part n reads `count` elements of the operand from
// first[n] on, of which some may lie outside, and slides over them as `slide` says. nullopt if the parts do not slide
// alike.
enum class SlideSide { output, window };
struct SlideParts {
    std::vector<i64> first;
    i64 count = 0;
    Slide slide;
};
std::optional<SlideParts> slide_parts(const Slide& slide, const SlideSizes& sizes, SlideSide side, i64 parts);

// Where the dim of the operand is split into equal parts, of windows without an input_dilation: part n reads `places`
// places of the result from first_place[n] on, of which some may not be there, and the elements that their windows meet,
// from first[n] on; its own elements begin at `start` of those.
struct SlideOrigins {
    std::vector<i64> first_place, first;
    i64 places = 0, count = 0, start = 0;
    Slide slide;
};
std::optional<SlideOrigins> slide_origins(const Slide& slide, const SlideSizes& sizes, i64 parts);

} // namespace shard
