// Row by row of the last dim: each place of a window along the others meets a row of the operand, or none.
#include "executor/kernels/pool.h"

#include "executor/elements/element.h"
#include "executor/elements/strided.h"
#include "executor/kernels/reduction.h"
#include "plans/base/division.h"
#include "plans/kernel/pool_sizes.h"

#include <algorithm>

namespace shard {

namespace {

struct Places {
    i64 low = 0, high = 0; // [low, high)
};

// Those of a window that lie within the operand at place o of the result.
Places within(const Slide& slide, i64 window, i64 o, i64 input) {
    const i64 begin = o * slide.stride - slide.low, last = (input - 1) * slide.input_dilation;
    const i64 low = std::clamp<i64>(ceil_div(-begin, slide.dilation), 0, window);
    return {low, std::clamp<i64>(floor_div(last - begin, slide.dilation) + 1, low, window)};
}

// The element that such a place k meets; -1: it is between two.
i64 met(const Slide& slide, i64 o, i64 k) {
    const i64 place = o * slide.stride + k * slide.dilation - slide.low;
    if (slide.input_dilation == 1) return place;
    return place % slide.input_dilation == 0 ? place / slide.input_dilation : -1;
}

// The next index of a shape, last dim fastest; false after the last one.
bool go_on(std::vector<i64>& index, std::span<const i64> shape) {
    for (size_t d = shape.size(); d-- > 0;) {
        if (++index[d] < shape[d]) return true;
        index[d] = 0;
    }
    return false;
}

struct Windows {
    std::span<const i64> window;
    std::span<const Slide> slides;
    const Shape &input, &output; // that slides over, and of the windows' places
    size_t outer() const { return input.size() - 1; }
    std::span<const i64> outer_places() const { return std::span(output).first(outer()); }

    // Calls `row` with the index of each of the operand's rows that the windows at `places` meet, in order.
    template<typename Row>
    void for_each_row(const std::vector<i64>& places, const Row& row) const {
        std::vector<i64> k(outer(), 0), count(outer(), 0), index(outer(), 0), first(outer(), 0);
        for (size_t d = 0; d < outer(); ++d) {
            const Places inside = within(slides[d], window[d], places[d], input[d]);
            first[d] = inside.low;
            count[d] = inside.high - inside.low;
            if (count[d] == 0) return;
        }
        do {
            bool is_there = true;
            for (size_t d = 0; d < outer() && is_there; ++d) {
                index[d] = met(slides[d], places[d], first[d] + k[d]);
                is_there = index[d] >= 0;
            }
            if (is_there) row(index);
        } while (go_on(k, count));
    }
    std::vector<Places> within_rows() const {
        std::vector<Places> inside;
        for (i64 o = 0; o < output.back(); ++o) inside.push_back(within(slides.back(), window.back(), o, input.back()));
        return inside;
    }
    i64 row_of(const Shape& shape, const std::vector<i64>& index) const {
        i64 row = 0;
        for (size_t d = 0; d < outer(); ++d) row = row * shape[d] + index[d];
        return row * shape.back();
    }
};

template<typename Op, typename T>
void reduce_windows(const Windows& windows, const T* from, T* to) {
    using Acc = typename Op::template Accumulator<T>;
    const i64 last = windows.output.back(), input = windows.input.back();
    const Slide& slide = windows.slides.back();
    const bool is_plain = windows.window.back() == 1 && slide == Slide{} && last == input;
    const std::vector<Places> inside = windows.within_rows();
    std::vector<Acc> row(static_cast<size_t>(last));
    std::vector<i64> places(windows.outer(), 0);
    do {
        std::fill(row.begin(), row.end(), Op::template identity<T>());
        windows.for_each_row(places, [&](const std::vector<i64>& index) {
            const T* const elements = from + windows.row_of(windows.input, index);
            if (is_plain) {
                for (i64 o = 0; o < last; ++o)
                    row[static_cast<size_t>(o)] =
                        Op::combine(row[static_cast<size_t>(o)], convert_value<Acc>(elements[o]));
                return;
            }
            for (i64 o = 0; o < last; ++o)
                for (i64 k = inside[static_cast<size_t>(o)].low; k < inside[static_cast<size_t>(o)].high; ++k)
                    if (const i64 element = met(slide, o, k); element >= 0)
                        row[static_cast<size_t>(o)] =
                            Op::combine(row[static_cast<size_t>(o)], convert_value<Acc>(elements[element]));
        });
        T* const made = to + windows.row_of(windows.output, places);
        for (i64 o = 0; o < last; ++o) made[o] = convert_value<T>(row[static_cast<size_t>(o)]);
    } while (go_on(places, windows.outer_places()));
}

// What of each window is the largest so far, and where that stands in the result.
template<typename Wide>
struct Largest {
    bool any = false;
    Wide value = 0;
    i64 at = -1; // -1: outside of the result
};

template<typename T>
void select_windows(const SelectWindows& kernel, const Windows& windows, const Shape& result, const T* from,
                    const T* given, Computed<T>* sums) {
    using Wide = Computed<T>;
    const i64 last = windows.output.back();
    const Slide& slide = windows.slides.back();
    const std::vector<Places> inside = windows.within_rows();
    std::vector<Largest<Wide>> row(static_cast<size_t>(last));
    std::vector<i64> places(windows.outer(), 0);
    do {
        std::fill(row.begin(), row.end(), Largest<Wide>{});
        windows.for_each_row(places, [&](const std::vector<i64>& index) {
            const T* const elements = from + windows.row_of(windows.input, index);
            std::vector<i64> own = index;
            bool is_inside = true;
            for (size_t d = 0; d < own.size(); ++d) {
                own[d] -= kernel.start[d];
                is_inside = is_inside && own[d] >= 0 && own[d] < result[d];
            }
            const i64 base = is_inside ? windows.row_of(result, own) : 0;
            for (i64 o = 0; o < last; ++o)
                for (i64 k = inside[static_cast<size_t>(o)].low; k < inside[static_cast<size_t>(o)].high; ++k) {
                    const i64 element = met(slide, o, k); // nothing lies between elements
                    const Wide value = convert_value<Wide>(elements[element]);
                    Largest<Wide>& largest = row[static_cast<size_t>(o)];
                    const bool stays = kernel.smallest ? largest.value <= value : largest.value >= value;
                    if (largest.any && stays) continue;
                    const i64 place = element - kernel.start.back();
                    const bool is_here = is_inside && place >= 0 && place < result.back();
                    largest = {true, value, is_here ? base + place : -1};
                }
        });
        const T* const gradients = given + windows.row_of(windows.output, places);
        for (i64 o = 0; o < last; ++o)
            if (const Largest<Wide>& largest = row[static_cast<size_t>(o)]; largest.at >= 0)
                sums[largest.at] += convert_value<Wide>(gradients[o]);
    } while (go_on(places, windows.outer_places()));
}

} // namespace

void run_reduce_windows(const ReduceWindows& kernel, const KernelCall& call) {
    const Operand& input = call.inputs[0];
    internal_check(input.shape->size() == kernel.window.size() && !kernel.window.empty(),
                   "reduce_windows: dims differ");
    const Windows windows = {kernel.window, kernel.slides, *input.shape, *call.output.shape};
    visit_dtype(input.dtype, [&](auto value) {
        using T = decltype(value);
        visit_reduction(kernel.op, [&]<typename Op>(Op) {
            reduce_windows<Op>(windows, reinterpret_cast<const T*>(input.data), reinterpret_cast<T*>(call.output.data));
        });
    });
}

void run_select_windows(const SelectWindows& kernel, const KernelCall& call) {
    const Operand &x = call.inputs[0], &given = call.inputs[1];
    const Windows windows = {kernel.window, kernel.slides, *x.shape, *given.shape};
    visit_dtype(x.dtype, [&](auto value) {
        using T = decltype(value);
        using Wide = Computed<T>;
        if constexpr (is_float_element<T>) {
            const i64 count = element_count(*call.output.shape);
            constexpr bool is_direct = std::is_same_v<T, Wide>;
            std::byte* const memory =
                is_direct ? call.output.data : call.scratch.at(0, count * static_cast<i64>(sizeof(Wide)));
            Wide* const sums = reinterpret_cast<Wide*>(memory);
            std::fill_n(sums, count, Wide{0});
            select_windows(kernel, windows, *call.output.shape, reinterpret_cast<const T*>(x.data),
                           reinterpret_cast<const T*>(given.data), sums);
            if constexpr (!is_direct)
                for (i64 n = 0; n < count; ++n) reinterpret_cast<T*>(call.output.data)[n] = convert_value<T>(sums[n]);
        } else {
            internal_error("select_windows: a gradient that is not floating-point");
        }
    });
}

} // namespace shard
