// What windows meet, counted place by place.
#include "plans/kernel/slide_reach.h"

#include <doctest/doctest.h>

#include <limits>

namespace shard {

namespace {

// The element that place k of the window meets at place o; nullopt: none.
std::optional<i64> met(const Slide& slide, const SlideSizes& sizes, i64 o, i64 k) {
    const i64 kth = slide.reversed ? sizes.window - 1 - k : k,
              place = o * slide.stride + kth * slide.dilation - slide.low;
    if (place < 0 || place % slide.input_dilation != 0 || place / slide.input_dilation >= sizes.input)
        return std::nullopt;
    return place / slide.input_dilation;
}

template<typename Check>
void for_each_slide(const Check& check) {
    for (const i64 stride : {1, 2, 3})
        for (const i64 low : {-3, 0, 1, 4})
            for (const i64 dilation : {1, 2, 5})
                for (const i64 between : {1, 2, 3})
                    for (const bool reversed : {false, true}) check(Slide{stride, low, dilation, between, reversed});
}

} // namespace

TEST_CASE("pairs that meet are those that lie on an element") {
    for_each_slide([](const Slide& slide) {
        for (const SlideSizes& sizes : {SlideSizes{6, 3, 5}, {4, 7, 3}, {1, 1, 9}}) {
            i64 pairs = 0;
            for (i64 o = 0; o < sizes.output; ++o)
                for (i64 k = 0; k < sizes.window; ++k) pairs += met(slide, sizes, o, k) ? 1 : 0;
            CHECK(meeting_pairs(slide, sizes) == pairs);
        }
    });
    constexpr i64 huge = i64{1} << 50;
    CHECK(meeting_pairs({}, {huge, huge, huge}) == std::numeric_limits<i64>::max());
    CHECK(meeting_pairs({1, 1, 1, 1, false}, {huge, 3, huge}) == 3 * huge - 2);
}

TEST_CASE("there are as many places as windows fit, and as much has to be added behind for as many") {
    CHECK(slid_size({1, 1, 1, 1, false}, 8, 3, 1) == 8);
    CHECK(slid_size({2, 0, 1, 1, false}, 8, 3, 0) == 3); // 0, 2, 4; the last element is left over
    CHECK(slid_size({1, 0, 2, 1, false}, 4, 3, 0) == std::nullopt);
    CHECK(slid_size({1, 0, 1, 3, false}, 3, 7, 0) == 1);
    CHECK(slid_size({1, 0, 1, 1, false}, i64{1} << 61, 1, 0) == std::nullopt);
    CHECK(high_of({2, 0, 1, 1, false}, {8, 3, 3}) == -1);
    for_each_slide([](const Slide& slide) {
        for (const i64 output : {1, 2, 5}) CHECK(slid_size(slide, 6, 3, high_of(slide, {6, 3, output})) == output);
    });
}

TEST_CASE("parts of the result's places, or of the window's, slide over what they read as the whole does") {
    for_each_slide([](const Slide& slide) {
        for (const SlideSide side : {SlideSide::output, SlideSide::window})
            for (const SlideSizes& sizes : {SlideSizes{8, 4, 12}, {6, 8, 4}}) {
                const std::optional<SlideParts> parts = slide_parts(slide, sizes, side, 4);
                if (!parts) {
                    CHECK(slide.input_dilation > 1); // of elements side by side all parts are alike
                    continue;
                }
                SlideSizes part = sizes;
                (side == SlideSide::output ? part.output : part.window) /= 4;
                part.input = parts->count;
                for (i64 n = 0; n < 4; ++n)
                    for (i64 o = 0; o < part.output; ++o)
                        for (i64 k = 0; k < part.window; ++k) {
                            const bool by_output = side == SlideSide::output;
                            const std::optional<i64> whole = met(slide, sizes, by_output ? n * part.output + o : o,
                                                                 by_output ? k : n * part.window + k),
                                                     own = met(parts->slide, part, o, k);
                            // What lies outside of the whole is read as nothing.
                            const i64 first = parts->first[static_cast<size_t>(n)];
                            if (whole) CHECK(own == *whole - first);
                            if (own && !whole) CHECK((first + *own < 0 || first + *own >= sizes.input));
                        }
            }
    });
    CHECK_FALSE(slide_parts({}, {8, 1, 6}, SlideSide::output, 4));
}

TEST_CASE("parts of the operand read the windows that meet them, and all that these meet") {
    for (const i64 stride : {1, 2, 3, 4})
        for (const i64 low : {-1, 0, 1, 3})
            for (const i64 window : {1, 2, 3, 5}) {
                const Slide slide = {stride, low, 1, 1, false};
                const SlideSizes sizes = {16, window, (16 + low + 2 - window) / stride + 1};
                const std::optional<SlideOrigins> origins = slide_origins(slide, sizes, 4);
                CAPTURE(stride);
                CAPTURE(low);
                CAPTURE(window);
                if (!origins) {
                    CHECK((4 % stride != 0 || stride > window)); // 4 elements each
                    continue;
                }
                const SlideSizes part = {origins->count, window, origins->places};
                for (i64 n = 0; n < 4; ++n) {
                    const i64 first = origins->first[static_cast<size_t>(n)],
                              place = origins->first_place[static_cast<size_t>(n)];
                    CHECK(first + origins->start == 4 * n);
                    CHECK(origins->start + 4 <= origins->count);
                    for (i64 o = 0; o < sizes.output; ++o)
                        for (i64 k = 0; k < window; ++k) {
                            const std::optional<i64> whole = met(slide, sizes, o, k);
                            if (whole && *whole / 4 == n) CHECK((o >= place && o < place + origins->places));
                            if (o >= place && o < place + origins->places && whole)
                                CHECK(met(origins->slide, part, o - place, k) == *whole - first);
                        }
                }
            }
}

} // namespace shard
