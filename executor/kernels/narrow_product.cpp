#include "executor/kernels/narrow_product.h"

#include "executor/machine/wide_registers.h"
#include "plans/base/inline.h"

#include <algorithm>
#include <array>

namespace shard {

namespace {

constexpr i64 most_rows = 8;    // of the result
constexpr i64 most_depth = 4;   // products in a sum, if there are few
constexpr i64 dot_length = 128; // for each row: sums that are shorter cost more to add up than to copy the matrix
constexpr i64 columns = 512;    // of a part of the result: a row of the right matrix is read in runs of these
constexpr i64 depth = 4;        // rows of the right matrix that are added at once
constexpr i64 lane_count = 16;  // partial sums of a row by a row
constexpr i64 together = 4;     // rows of the left matrix whose partial sums are in registers

template<typename T>
SHARD_INLINE T element(MatrixRef<const T> matrix, i64 row, i64 column) {
    return matrix.data[matrix.transposed ? column * matrix.ld + row : row * matrix.ld + column];
}

template<typename T>
SHARD_INLINE T* place(MatrixRef<T> matrix, i64 row, i64 column) {
    return matrix.data + (matrix.transposed ? column * matrix.ld + row : row * matrix.ld + column);
}

// Few rows of the result, the right matrix row by row.
template<typename T>
SHARD_INLINE void by_columns(i64 m, i64 n, i64 k, MatrixRef<const T> lhs, MatrixRef<const T> rhs, MatrixRef<T> out) {
    alignas(64) std::array<std::array<T, columns>, most_rows> sums;
    for (i64 begin = 0; begin < n; begin += columns) {
        const i64 width = std::min(columns, n - begin);
        for (i64 r = 0; r < m; ++r) std::fill_n(sums[r].begin(), width, T{0});
        i64 l = 0;
        for (; l + depth <= k; l += depth) {
            const T *const right0 = rhs.data + l * rhs.ld + begin, *const right1 = right0 + rhs.ld,
                           *const right2 = right1 + rhs.ld, *const right3 = right2 + rhs.ld;
            for (i64 r = 0; r < m; ++r) {
                const T left0 = element(lhs, r, l), left1 = element(lhs, r, l + 1), left2 = element(lhs, r, l + 2),
                        left3 = element(lhs, r, l + 3);
                T* __restrict const sum = sums[r].data();
                for (i64 c = 0; c < width; ++c)
                    sum[c] += (left0 * right0[c] + left1 * right1[c]) + (left2 * right2[c] + left3 * right3[c]);
            }
        }
        for (; l < k; ++l)
            for (i64 r = 0; r < m; ++r) {
                const T left = element(lhs, r, l);
                for (i64 c = 0; c < width; ++c) sums[r][c] += left * rhs.data[l * rhs.ld + begin + c];
            }
        for (i64 r = 0; r < m; ++r)
            for (i64 c = 0; c < width; ++c) *place(out, r, begin + c) = sums[r][c];
    }
}

// Rows [first, first + rows) of the left matrix with one of the right.
template<i64 rows, typename T>
SHARD_INLINE void dots(i64 k, const T* lhs, i64 ld, const T* right, std::array<T, most_rows>& results, i64 first) {
    std::array<std::array<T, lane_count>, rows> sums = {};
    i64 l = 0;
    for (; l + lane_count <= k; l += lane_count)
        for (i64 r = 0; r < rows; ++r)
            for (i64 lane = 0; lane < lane_count; ++lane)
                sums[r][lane] += lhs[(first + r) * ld + l + lane] * right[l + lane];
    for (; l < k; ++l)
        for (i64 r = 0; r < rows; ++r) sums[r][0] += lhs[(first + r) * ld + l] * right[l];
    for (i64 r = 0; r < rows; ++r) {
        for (i64 half = lane_count / 2; half > 0; half /= 2)
            for (i64 lane = 0; lane < half; ++lane) sums[r][lane] += sums[r][lane + half];
        results[first + r] = sums[r][0];
    }
}

// Few rows of the result, the right matrix column by column; the left one lies row by row.
template<typename T>
SHARD_INLINE void by_dots(i64 m, i64 n, i64 k, MatrixRef<const T> lhs, MatrixRef<const T> rhs, MatrixRef<T> out) {
    std::array<T, most_rows> results;
    for (i64 c = 0; c < n; ++c) {
        const T* const right = rhs.data + c * rhs.ld;
        i64 r = 0;
        for (; r + together <= m; r += together) dots<together>(k, lhs.data, lhs.ld, right, results, r);
        for (; r + 2 <= m; r += 2) dots<2>(k, lhs.data, lhs.ld, right, results, r);
        for (; r < m; ++r) dots<1>(k, lhs.data, lhs.ld, right, results, r);
        for (r = 0; r < m; ++r) *place(out, r, c) = results[r];
    }
}

// Sums of few products: each row of the result is written once, from rows that stay in the nearest cache.
template<typename T>
SHARD_INLINE void by_outer(i64 m, i64 n, i64 k, MatrixRef<const T> lhs, MatrixRef<const T> rhs, MatrixRef<T> out) {
    alignas(64) std::array<std::array<T, columns>, most_depth> right = {};
    for (i64 begin = 0; begin < n; begin += columns) {
        const i64 width = std::min(columns, n - begin);
        for (i64 l = 0; l < k; ++l)
            for (i64 c = 0; c < width; ++c) right[l][c] = element(rhs, l, begin + c);
        for (i64 r = 0; r < m; ++r) {
            std::array<T, most_depth> left = {};
            for (i64 l = 0; l < k; ++l) left[l] = element(lhs, r, l);
            T* __restrict const to = out.data + r * out.ld + begin;
            switch (k) {
            case 1:
                for (i64 c = 0; c < width; ++c) to[c] = left[0] * right[0][c];
                break;
            case 2:
                for (i64 c = 0; c < width; ++c) to[c] = left[0] * right[0][c] + left[1] * right[1][c];
                break;
            case 3:
                for (i64 c = 0; c < width; ++c)
                    to[c] = (left[0] * right[0][c] + left[1] * right[1][c]) + left[2] * right[2][c];
                break;
            default:
                for (i64 c = 0; c < width; ++c)
                    to[c] = (left[0] * right[0][c] + left[1] * right[1][c]) +
                            (left[2] * right[2][c] + left[3] * right[3][c]);
            }
        }
    }
}

enum class Way { by_columns, by_dots, by_outer };

template<Way way, typename T>
SHARD_INLINE void product(i64 m, i64 n, i64 k, MatrixRef<const T> lhs, MatrixRef<const T> rhs, MatrixRef<T> out) {
    if constexpr (way == Way::by_columns)
        by_columns(m, n, k, lhs, rhs, out);
    else if constexpr (way == Way::by_dots)
        by_dots(m, n, k, lhs, rhs, out);
    else
        by_outer(m, n, k, lhs, rhs, out);
}

template<Way way, typename T>
SHARD_WIDE void wide_product(i64 m, i64 n, i64 k, MatrixRef<const T> lhs, MatrixRef<const T> rhs, MatrixRef<T> out) {
    product<way>(m, n, k, lhs, rhs, out);
}

template<Way way, typename T>
void run(i64 m, i64 n, i64 k, MatrixRef<const T> lhs, MatrixRef<const T> rhs, MatrixRef<T> out) {
    has_wide_registers() ? wide_product<way>(m, n, k, lhs, rhs, out) : product<way>(m, n, k, lhs, rhs, out);
}

template<typename T>
MatrixRef<T> transposed(MatrixRef<T> matrix) {
    matrix.transposed = !matrix.transposed;
    return matrix;
}

// m is at most n.
template<typename T>
bool few_rows(i64 m, i64 n, i64 k, MatrixRef<const T> lhs, MatrixRef<const T> rhs, MatrixRef<T> out) {
    if (m > most_rows) return false;
    if (!rhs.transposed) {
        run<Way::by_columns>(m, n, k, lhs, rhs, out);
        return true;
    }
    if (m > 2 && (out.transposed || k < m * dot_length)) return false;
    if (!lhs.transposed) {
        run<Way::by_dots>(m, n, k, lhs, rhs, out);
        return true;
    }
    std::vector<T> rows(static_cast<size_t>(m * k));
    for (i64 r = 0; r < m; ++r)
        for (i64 l = 0; l < k; ++l) rows[static_cast<size_t>(r * k + l)] = element(lhs, r, l);
    run<Way::by_dots>(m, n, k, {rows.data(), false, k}, rhs, out);
    return true;
}

template<typename T>
bool multiply(i64 m, i64 n, i64 k, MatrixRef<const T> lhs, MatrixRef<const T> rhs, MatrixRef<T> out) {
    if (k > most_depth || k == 0)
        return m <= n ? few_rows(m, n, k, lhs, rhs, out)
                      : few_rows(n, m, k, transposed(rhs), transposed(lhs), transposed(out));
    if (out.transposed)
        run<Way::by_outer>(n, m, k, transposed(rhs), transposed(lhs), transposed(out));
    else
        run<Way::by_outer>(m, n, k, lhs, rhs, out);
    return true;
}

} // namespace

bool narrow_product(i64 m, i64 n, i64 k, MatrixRef<const float> lhs, MatrixRef<const float> rhs, MatrixRef<float> out) {
    return multiply(m, n, k, lhs, rhs, out);
}

bool narrow_product(i64 m, i64 n, i64 k, MatrixRef<const double> lhs, MatrixRef<const double> rhs,
                    MatrixRef<double> out) {
    return multiply(m, n, k, lhs, rhs, out);
}

} // namespace shard
