#include "plans/kernel/slide_reach.h"

#include "plans/base/division.h"
#include "plans/base/saturating.h"

#include <algorithm>
#include <numeric>

namespace shard {

namespace {

constexpr i64 reach_limit = i64{1} << 60;
constexpr i64 countable = 4096;

// Of the places low, low + 1, ... up to high, those for which place * step + from is a multiple of `unit`.
i64 multiples(i64 low, i64 high, i64 step, i64 from, i64 unit) {
    if (high < low) return 0;
    const i64 period = unit / std::gcd(step, unit);
    for (i64 place = low; place <= std::min(high, low + std::min(period, countable) - 1); ++place)
        if ((place * step + from) % unit == 0) return (high - place) / period + 1;
    return 0;
}

// Places of one side that meet an element, with one place of the other side, of which `from` is the offset.
i64 places_meeting(i64 size, i64 step, i64 from, i64 input, i64 unit) {
    const i64 low = std::max<i64>(0, ceil_div(-from, step));
    const i64 high = std::min(size - 1, floor_div((input - 1) * unit - from, step));
    return multiples(low, high, step, from, unit);
}

} // namespace

i64 dilated_size(i64 size, i64 dilation) { return add_saturating(multiply_saturating(size - 1, dilation), 1); }

std::optional<i64> slid_size(const Slide& slide, i64 input, i64 window, i64 high) {
    i64 room = 0;
    const i64 spread = dilated_size(input, slide.input_dilation), covered = dilated_size(window, slide.dilation);
    if (spread >= reach_limit || covered >= reach_limit || __builtin_add_overflow(slide.low, high, &room) ||
        __builtin_add_overflow(room, spread - covered, &room) || room < 0 || room >= reach_limit)
        return std::nullopt;
    return room / slide.stride + 1;
}

i64 high_of(const Slide& slide, const SlideSizes& sizes) {
    return (sizes.output - 1) * slide.stride + dilated_size(sizes.window, slide.dilation) - slide.low -
           dilated_size(sizes.input, slide.input_dilation);
}

std::string slide_problem(const Slide& slide, const SlideSizes& sizes) {
    if (slide.stride < 1 || slide.dilation < 1 || slide.input_dilation < 1) return "a stride or dilation below 1";
    if (sizes.input < 1 || sizes.window < 1 || sizes.output < 1) return "a dim without elements";
    const bool reaches_far = slide.low <= -reach_limit || slide.low >= reach_limit ||
                             slide.input_dilation >= reach_limit ||
                             dilated_size(sizes.input, slide.input_dilation) >= reach_limit ||
                             dilated_size(sizes.window, slide.dilation) >= reach_limit ||
                             dilated_size(sizes.output, slide.stride) >= reach_limit;
    return reaches_far ? "a window that reaches further than can be computed" : "";
}

i64 meeting_pairs(const Slide& slide, const SlideSizes& sizes) {
    if (std::min(sizes.window, sizes.output) > countable) return multiply_saturating(sizes.window, sizes.output);
    i64 pairs = 0;
    if (sizes.window <= sizes.output) {
        for (i64 k = 0; k < sizes.window; ++k)
            pairs = add_saturating(pairs, places_meeting(sizes.output, slide.stride, k * slide.dilation - slide.low,
                                                         sizes.input, slide.input_dilation));
        return pairs;
    }
    for (i64 o = 0; o < sizes.output; ++o)
        pairs = add_saturating(pairs, places_meeting(sizes.window, slide.dilation, o * slide.stride - slide.low,
                                                     sizes.input, slide.input_dilation));
    return pairs;
}

std::optional<SlideParts> slide_parts(const Slide& slide, const SlideSizes& sizes, SlideSide side, i64 parts) {
    const bool splits_output = side == SlideSide::output;
    SlideSizes part = sizes;
    i64& split = splits_output ? part.output : part.window;
    if (split % parts != 0) return std::nullopt;
    split /= parts;
    const i64 reach = (part.output - 1) * slide.stride + (part.window - 1) * slide.dilation;
    SlideParts made;
    made.slide = slide;
    for (i64 n = 0; n < parts; ++n) {
        const i64 block = slide.reversed && !splits_output ? parts - 1 - n : n;
        const i64 start = block * split * (splits_output ? slide.stride : slide.dilation) - slide.low;
        const i64 first = ceil_div(start, slide.input_dilation),
                  count = floor_div(start + reach, slide.input_dilation) - first + 1,
                  low = first * slide.input_dilation - start;
        if (count < 1 || (n > 0 && (count != made.count || low != made.slide.low))) return std::nullopt;
        made.first.push_back(first);
        made.count = count;
        made.slide.low = low;
    }
    return made;
}

std::optional<SlideOrigins> slide_origins(const Slide& slide, const SlideSizes& sizes, i64 parts) {
    if (sizes.input % parts != 0 || slide.input_dilation != 1) return std::nullopt;
    const i64 own = sizes.input / parts, reach = (sizes.window - 1) * slide.dilation;
    SlideOrigins made;
    made.slide = slide;
    for (i64 n = 0; n < parts; ++n) {
        const i64 begin = n * own, place = ceil_div(begin + slide.low - reach, slide.stride),
                  places = floor_div(begin + own - 1 + slide.low, slide.stride) - place + 1,
                  met = place * slide.stride - slide.low, first = std::min(met, begin),
                  count = std::max(met + (places - 1) * slide.stride + reach + 1, begin + own) - first,
                  low = first - met, start = begin - first;
        if (places < 1 ||
            (n > 0 && (places != made.places || count != made.count || low != made.slide.low || start != made.start)))
            return std::nullopt;
        made.first_place.push_back(place);
        made.first.push_back(first);
        made.places = places;
        made.count = count;
        made.start = start;
        made.slide.low = low;
    }
    return made;
}

} // namespace shard
