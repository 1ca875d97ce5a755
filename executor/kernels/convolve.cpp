#include "executor/kernels/convolve.h"

#include "executor/elements/element.h"
#include "executor/elements/strided.h"
#include "executor/kernels/blas.h"
#include "executor/kernels/convolve_places.h"
#include "plans/base/division.h"

#include <algorithm>

namespace shard {

namespace {

using Places = std::vector<ConvolvePlace>;

// Places of which the elements lie at one distance from each other: those of one place along all windows, or places that
// follow each other along one.
struct Run {
    size_t first = 0;
    i64 count = 1, step = 1;
    int window = -1; // then `step` is along it, counted with what is between elements
};

// Along which window alone b lies behind a; -1: along none, -2: along several, or elsewhere.
int window_between(const ConvolvePlace& a, const ConvolvePlace& b) {
    int window = -1;
    for (size_t w = 0; w < a.at.size(); ++w) {
        if (a.at[w] == b.at[w]) continue;
        if (window != -1 || a.lhs != b.lhs) return -2;
        window = static_cast<int>(w);
    }
    return window;
}

i64 step_between(const ConvolvePlace& a, const ConvolvePlace& b, int window) {
    return window < 0 ? b.lhs - a.lhs : b.at[static_cast<size_t>(window)] - a.at[static_cast<size_t>(window)];
}

void find_runs(const Places& places, std::vector<Run>& runs) {
    runs.clear();
    for (size_t first = 0; first < places.size();) {
        Run run;
        run.first = first;
        size_t next = first + 1;
        if (next < places.size() && window_between(places[first], places[next]) > -2) {
            run.window = window_between(places[first], places[next]);
            run.step = step_between(places[first], places[next], run.window);
            while (next < places.size() && window_between(places[next - 1], places[next]) == run.window &&
                   step_between(places[next - 1], places[next], run.window) == run.step)
                ++next;
        }
        run.count = static_cast<i64>(next - first);
        runs.push_back(run);
        first = next;
    }
}

// The distance of numbers that lie at one distance from each other; nullopt if they do not. Of one number it is `alone`.
template<typename At>
std::optional<i64> distance(size_t count, i64 alone, const At& at) {
    if (count < 2) return alone;
    const i64 step = at(1) - at(0);
    for (size_t n = 2; n < count; ++n)
        if (at(n) - at(n - 1) != step) return std::nullopt;
    return step;
}

// Elements `row` apart along rows and `column` along columns, as a matrix; nullopt if BLAS knows none such.
template<typename T>
std::optional<MatrixRef<T>> matrix_at(T* data, i64 rows, i64 row, i64 columns, i64 column) {
    if ((column == 1 || columns == 1) && row >= columns) return MatrixRef<T>{data, false, row};
    if ((row == 1 || rows == 1) && column >= rows) return MatrixRef<T>{data, true, column};
    return std::nullopt;
}

template<typename T>
class Convolution {
public:
    Convolution(const Convolve& kernel, const KernelCall& call, std::span<const TensorType> types)
        : call_(call), places_(kernel, types, call.output.type()), sizes_(places_.sizes()),
          scratch_(convolve_scratch(sizes_, types[0].dtype)), memory_(call.scratch.at(0, scratch_.bytes)) {}

    void run() {
        for (size_t product = 0; product < places_.products(); ++product) {
            if (sizes_.groups > 1 && sizes_.made == 1) {
                add_up(product);
                continue;
            }
            for (group_ = 0; group_ < sizes_.groups; ++group_)
                for (i64 column = 0; column < sizes_.made; column += scratch_.columns)
                    multiply(product, column, std::min(scratch_.columns, sizes_.made - column));
        }
    }

private:
    static constexpr DType wide = std::is_same_v<T, double> ? DType::f64 : DType::f32;

    void multiply(size_t product, i64 column, i64 columns) {
        const i64 rows = places_.rows(product), terms = places_.terms(product);
        for (i64 row = 0; row < rows; row += scratch_.rows) {
            places_.list_rows(product, row, std::min(scratch_.rows, rows - row), rows_);
            const std::optional<MatrixRef<T>> in_place = place_in_result(column, columns);
            const MatrixRef<T> result = in_place.value_or(MatrixRef<T>{at(scratch_.result), false, columns});
            for (i64 term = 0; term < terms; term += scratch_.terms) {
                places_.list_terms(product, term, std::min(scratch_.terms, terms - term), terms_);
                gemm(std::ssize(rows_), columns, std::ssize(terms_), met(), rhs(column, columns), result, 1, term > 0);
            }
            if (terms == 0)
                clear(column, columns);
            else if (!in_place)
                store(column, columns);
        }
    }

    // --- the result ---

    i64 result_at(i64 column) const { return group_ * places_.out_group() + column * places_.out_made(); }

    std::optional<MatrixRef<T>> place_in_result(i64 column, i64 columns) const {
        if (call_.output.dtype != wide) return std::nullopt;
        const std::optional<i64> step = distance(rows_.size(), columns, [this](size_t n) { return rows_[n].other; });
        if (!step) return std::nullopt;
        T* const first = reinterpret_cast<T*>(call_.output.data) + result_at(column) + rows_[0].other;
        return matrix_at(first, std::ssize(rows_), *step, columns, places_.out_made());
    }

    void clear(i64 column, i64 columns) {
        std::fill_n(at(scratch_.result), std::ssize(rows_) * columns, T{0});
        store(column, columns);
    }

    void store(i64 column, i64 columns) {
        const i64 bytes = byte_size(call_.output.dtype);
        for (size_t n = 0; n < rows_.size(); ++n)
            convert_strided(call_.output.data + (result_at(column) + rows_[n].other) * bytes, call_.output.dtype,
                            reinterpret_cast<std::byte*>(at(scratch_.result) + static_cast<i64>(n) * columns), wide,
                            {{columns, places_.out_made(), 1}});
    }

    // --- the second operand: terms x columns ---

    MatrixRef<const T> rhs(i64 column, i64 columns) {
        const Operand& from = call_.inputs[1];
        const i64 first = group_ * places_.rhs_group() + column * places_.rhs_made(), count = std::ssize(terms_);
        const std::optional<i64> step = distance(terms_.size(), columns, [this](size_t n) { return terms_[n].other; });
        if (step && from.dtype == wide) {
            const T* const data = reinterpret_cast<const T*>(from.data) + first + terms_[0].other;
            if (const auto found = matrix_at(data, count, *step, columns, places_.rhs_made())) return *found;
        }
        T* const packed = at(scratch_.rhs);
        if (places_.rhs_made() == 1) {
            for (size_t n = 0; n < terms_.size(); ++n)
                copy(packed + static_cast<i64>(n) * columns, from, first + terms_[n].other, columns, 1);
            return {packed, false, columns};
        }
        for (i64 c = 0; c < columns; ++c)
            for (size_t n = 0; n < terms_.size();) {
                size_t end = n + 1;
                while (end < terms_.size() && terms_[end].other == terms_[end - 1].other + 1) ++end;
                copy(packed + c * count + static_cast<i64>(n), from, first + c * places_.rhs_made() + terms_[n].other,
                     static_cast<i64>(end - n), 1);
                n = end;
            }
        return {packed, true, count};
    }

    // --- what windows meet of the first operand: rows x terms ---

    MatrixRef<const T> met() {
        const bool by_rows = places_.terms_lie_together();
        const Places &outer = by_rows ? rows_ : terms_, &inner = by_rows ? terms_ : rows_;
        if (const std::optional<MatrixRef<const T>> found = met_in_place(outer, inner))
            return {found->data, by_rows ? found->transposed : !found->transposed, found->ld};
        find_runs(inner, runs_);
        T* const packed = at(scratch_.met);
        const i64 count = std::ssize(inner);
        for (size_t n = 0; n < outer.size(); ++n)
            for (const Run& run : runs_)
                pack(packed + static_cast<i64>(n) * count + static_cast<i64>(run.first), outer[n], inner[run.first],
                     run);
        return {packed, !by_rows, count};
    }

    // Where all of it is there and lies as a matrix does, as in a convolution with a window of 1.
    std::optional<MatrixRef<const T>> met_in_place(const Places& outer, const Places& inner) const {
        const Operand& from = call_.inputs[0];
        if (from.dtype != wide) return std::nullopt;
        const auto offset = [this](const ConvolvePlace& place) {
            i64 sum = place.lhs;
            for (size_t w = 0; w < places_.windows().size(); ++w) sum += place.at[w] * places_.windows()[w].stride;
            return sum;
        };
        const auto apart = [&](const Places& places, i64 alone) {
            return distance(places.size(), alone, [&](size_t n) { return offset(places[n]); });
        };
        const std::optional<i64> row = apart(outer, std::ssize(inner));
        const std::optional<i64> column = row ? apart(inner, 1) : std::nullopt;
        if (!column) return std::nullopt;
        for (size_t w = 0; w < places_.windows().size(); ++w) {
            const auto before = [w](const ConvolvePlace& a, const ConvolvePlace& b) { return a.at[w] < b.at[w]; };
            const auto [outer_low, outer_high] = std::minmax_element(outer.begin(), outer.end(), before);
            const auto [inner_low, inner_high] = std::minmax_element(inner.begin(), inner.end(), before);
            if (places_.windows()[w].unit != 1 || outer_low->at[w] + inner_low->at[w] < 0 ||
                outer_high->at[w] + inner_high->at[w] > places_.windows()[w].limit)
                return std::nullopt;
        }
        const T* const data = reinterpret_cast<const T*>(from.data) + group_ * places_.lhs_group();
        return matrix_at(data + offset(outer[0]) + offset(inner[0]), std::ssize(outer), *row, std::ssize(inner),
                         *column);
    }

    void pack(T* to, const ConvolvePlace& outer, const ConvolvePlace& inner, const Run& run) const {
        i64 from = group_ * places_.lhs_group() + outer.lhs + inner.lhs;
        for (size_t w = 0; w < places_.windows().size(); ++w) {
            if (static_cast<int>(w) == run.window) continue;
            const ConvolvePlaces::Window& window = places_.windows()[w];
            const i64 place = outer.at[w] + inner.at[w];
            if (place < 0 || place > window.limit) {
                std::fill_n(to, run.count, T{0});
                return;
            }
            from += (window.unit == 1 ? place : place / window.unit) * window.stride;
        }
        if (run.window < 0) return copy(to, call_.inputs[0], from, run.count, run.step);
        const ConvolvePlaces::Window& window = places_.windows()[static_cast<size_t>(run.window)];
        const i64 place = outer.at[static_cast<size_t>(run.window)] + inner.at[static_cast<size_t>(run.window)];
        const bool grows = run.step > 0;
        const i64 step = grows ? run.step : -run.step, ahead = grows ? place : window.limit - place;
        const i64 low = std::clamp<i64>(ceil_div(-ahead, step), 0, run.count),
                  high = std::clamp<i64>(floor_div(window.limit - ahead, step) + 1, low, run.count);
        std::fill_n(to, low, T{0});
        if (low < high)
            copy(to + low, call_.inputs[0], from + (place + low * run.step) / window.unit * window.stride, high - low,
                 run.step / window.unit * window.stride);
        std::fill_n(to + high, run.count - high, T{0});
    }

    static void copy(T* to, const Operand& operand, i64 first, i64 count, i64 step) {
        if (operand.dtype != wide) {
            convert_strided(reinterpret_cast<std::byte*>(to), wide, operand.data + first * byte_size(operand.dtype),
                            operand.dtype, {{count, 1, step}});
            return;
        }
        const T* const from = reinterpret_cast<const T*>(operand.data) + first;
        if (step == 1 && count > 8) {
            std::copy_n(from, count, to);
            return;
        }
        for (i64 n = 0; n < count; ++n) to[n] = from[n * step];
    }

    // --- a product for each channel: no matrices ---

    void add_up(size_t product) {
        const i64 rows = places_.rows(product), terms = places_.terms(product), groups = sizes_.groups;
        std::vector<double> sums(static_cast<size_t>(groups));
        std::vector<T> left(sums.size()), right(sums.size());
        for (i64 row = 0; row < rows; ++row) {
            places_.list_rows(product, row, 1, rows_);
            std::fill(sums.begin(), sums.end(), 0);
            for (i64 term = 0; term < terms; term += scratch_.terms) {
                places_.list_terms(product, term, std::min(scratch_.terms, terms - term), terms_);
                for (const ConvolvePlace& place : terms_) {
                    const std::optional<i64> from = element_at(rows_[0], place);
                    if (!from) continue;
                    copy(left.data(), call_.inputs[0], *from, groups, places_.lhs_group());
                    copy(right.data(), call_.inputs[1], place.other, groups, places_.rhs_group());
                    for (size_t g = 0; g < sums.size(); ++g)
                        sums[g] += static_cast<double>(left[g]) * static_cast<double>(right[g]);
                }
            }
            convert_strided(call_.output.data + rows_[0].other * byte_size(call_.output.dtype), call_.output.dtype,
                            reinterpret_cast<const std::byte*>(sums.data()), DType::f64,
                            {{groups, places_.out_group(), 1}});
        }
    }

    std::optional<i64> element_at(const ConvolvePlace& row, const ConvolvePlace& term) const {
        i64 from = row.lhs + term.lhs;
        for (size_t w = 0; w < places_.windows().size(); ++w) {
            const ConvolvePlaces::Window& window = places_.windows()[w];
            const i64 place = row.at[w] + term.at[w];
            if (place < 0 || place > window.limit) return std::nullopt;
            from += place / window.unit * window.stride;
        }
        return from;
    }

    T* at(i64 offset) const { return reinterpret_cast<T*>(memory_ + offset); }

    const KernelCall& call_;
    const ConvolvePlaces places_;
    const ConvolveSizes& sizes_;
    const ConvolveScratch scratch_;
    std::byte* memory_;
    i64 group_ = 0;
    Places rows_, terms_; // of the block
    std::vector<Run> runs_;
};

} // namespace

void run_convolve(const Convolve& kernel, const KernelCall& call) {
    std::vector<TensorType> types;
    for (const Operand& input : call.inputs) types.push_back(input.type());
    internal_check(convolve_problem(kernel, types, call.output.type()).empty(), "convolve: operands do not fit");
    if (computed_as(types[0].dtype) == DType::f64)
        Convolution<double>(kernel, call, types).run();
    else
        Convolution<float>(kernel, call, types).run();
}

} // namespace shard
