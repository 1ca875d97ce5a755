#include "executor/kernels/panel_product.h"

#include <algorithm>
#include <memory>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace shard {

#if defined(__x86_64__)

namespace {

#define SHARD_512 [[gnu::target("avx512f,fma")]]
#if defined(__clang__)
#define SHARD_UNROLL _Pragma("unroll")
#else
#define SHARD_UNROLL _Pragma("GCC unroll 8")
#endif
#define SHARD_512_INLINE [[gnu::target("avx512f,fma"), gnu::always_inline]] inline

constexpr i64 lanes = 16;         // floats of a register
constexpr i64 most_registers = 4; // of a row of a panel
constexpr i64 panel_width = lanes * most_registers;
constexpr i64 block_rows = 6; // by most_registers: sums that are in registers, which leaves some for what is read
// Panels stay in the second cache while all rows pass. One of the few is made once for all of the many, and so as deep as
// fits.
constexpr i64 width_of_many = 512, depth_of_many = 128, depth_of_few = 2048;
constexpr i64 rows_ahead = 8; // that are fetched while rows are copied
// What was measured: of the few side, where the many lie along k, and where they lie side by side; and of a product.
constexpr i64 most_few_along = 128, least_few_across = 16, most_few_across = 128, most_depth_across = 1024;
constexpr i64 most_stride = i64{1} << 26; // of what is gathered: places are counted in 32 bits
constexpr i64 least_multiplications = i64{1} << 15;

// A matrix as a place of its first element, with what lies between rows and between columns.
template<typename T>
struct Strided {
    T* data;
    i64 row, column;

    T* at(i64 r, i64 c) const { return data + r * row + c * column; }
    Strided from(i64 r, i64 c) const { return {at(r, c), row, column}; }
};

template<typename T>
Strided<T> strided(MatrixRef<T> matrix) {
    return matrix.transposed ? Strided<T>{matrix.data, 1, matrix.ld} : Strided<T>{matrix.data, matrix.ld, 1};
}

template<typename T>
Strided<T> turned(Strided<T> matrix) {
    return {matrix.data, matrix.column, matrix.row};
}

SHARD_512_INLINE __mmask16 first_lanes(i64 count) {
    return static_cast<__mmask16>((1U << std::clamp<i64>(count, 0, lanes)) - 1);
}

// Panels one behind the other: `depth` rows of at most panel_width elements, of which `width` are there; what is missing of
// the last register is 0.
SHARD_512_INLINE void copy_panels(i64 depth, i64 width, Strided<const float> from, float* panels) {
    const auto place = [&](i64 l, i64 c) {
        const i64 first = c / panel_width * panel_width;
        const i64 registers = (std::min(panel_width, width - first) + lanes - 1) / lanes;
        return panels + first * depth + l * registers * lanes + (c - first);
    };
    if (from.column == 1) {
        for (i64 l = 0; l < depth; ++l)
            for (i64 c = 0; c < width; c += lanes) {
                const float* const row = from.at(l, c);
                _mm_prefetch(reinterpret_cast<const char*>(row + rows_ahead * from.row), _MM_HINT_T0);
                _mm512_store_ps(place(l, c), _mm512_maskz_loadu_ps(first_lanes(width - c), row));
            }
        return;
    }
    const __m512i apart = _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                                             _mm512_set1_epi32(static_cast<int>(from.column)));
    for (i64 c = 0; c < width; c += lanes)
        for (i64 l = 0; l < depth; ++l)
            _mm512_store_ps(place(l, c), _mm512_mask_i32gather_ps(_mm512_setzero_ps(), first_lanes(width - c), apart,
                                                                  from.at(l, c), sizeof(float)));
}

// A block of the result: `rows` rows of `registers` registers, of which the last holds what `mask` says.
template<i64 rows, i64 registers>
SHARD_512 void add_block(i64 depth, Strided<const float> left, const float* panel, Strided<float> out, i64 width,
                         bool adds) {
    __m512 sums[rows][registers];
    alignas(64) float turned_sums[rows][registers * lanes];
    const bool lies_along = out.column == 1;
    const __mmask16 last = first_lanes(width - (registers - 1) * lanes);
    if (adds && !lies_along)
        for (i64 c = 0; c < width; ++c)
            for (i64 r = 0; r < rows; ++r) turned_sums[r][c] = *out.at(r, c);
    SHARD_UNROLL
    for (i64 r = 0; r < rows; ++r) SHARD_UNROLL
    for (i64 v = 0; v < registers; ++v) {
        const __mmask16 mask = v + 1 < registers ? first_lanes(lanes) : last;
        const float* const before = lies_along ? out.at(r, v * lanes) : &turned_sums[r][v * lanes];
        sums[r][v] = adds ? _mm512_maskz_loadu_ps(mask, before) : _mm512_setzero_ps();
    }
    for (i64 l = 0; l < depth; ++l) {
        __m512 row[registers];
        SHARD_UNROLL
        for (i64 v = 0; v < registers; ++v) row[v] = _mm512_load_ps(panel + (l * registers + v) * lanes);
        SHARD_UNROLL
        for (i64 r = 0; r < rows; ++r) {
            const __m512 element = _mm512_set1_ps(*left.at(r, l));
            SHARD_UNROLL
            for (i64 v = 0; v < registers; ++v) sums[r][v] = _mm512_fmadd_ps(element, row[v], sums[r][v]);
        }
    }
    SHARD_UNROLL
    for (i64 r = 0; r < rows; ++r) SHARD_UNROLL
    for (i64 v = 0; v < registers; ++v) {
        const __mmask16 mask = v + 1 < registers ? first_lanes(lanes) : last;
        _mm512_mask_storeu_ps(lies_along ? out.at(r, v * lanes) : &turned_sums[r][v * lanes], mask, sums[r][v]);
    }
    if (!lies_along)
        for (i64 c = 0; c < width; ++c)
            for (i64 r = 0; r < rows; ++r) *out.at(r, c) = turned_sums[r][c];
}

template<i64 registers>
SHARD_512_INLINE void add_panel(i64 rows, i64 depth, Strided<const float> left, const float* panel, Strided<float> out,
                                i64 width, bool adds) {
    i64 r = 0;
    for (; r + block_rows <= rows; r += block_rows)
        add_block<block_rows, registers>(depth, left.from(r, 0), panel, out.from(r, 0), width, adds);
    for (; r + 2 <= rows; r += 2) add_block<2, registers>(depth, left.from(r, 0), panel, out.from(r, 0), width, adds);
    if (r < rows) add_block<1, registers>(depth, left.from(r, 0), panel, out.from(r, 0), width, adds);
}

// The columns of the result are those of the panels, of which some are made at once: what they are made of is read in
// longer runs.
SHARD_512 void by_panels(i64 m, i64 n, i64 k, Strided<const float> left, Strided<const float> right, Strided<float> out,
                         i64 most_width, i64 most_depth) {
    const i64 floats = std::min(k, most_depth) * (std::min(n, most_width) + lanes) + lanes;
    const std::unique_ptr<float[]> buffer(new float[static_cast<size_t>(floats)]);
    constexpr std::uintptr_t alignment = lanes * sizeof(float);
    float* const panels =
        reinterpret_cast<float*>((reinterpret_cast<std::uintptr_t>(buffer.get()) + alignment - 1) & ~(alignment - 1));
    for (i64 begin = 0; begin < n; begin += most_width) {
        const i64 end = std::min(begin + most_width, n);
        for (i64 l = 0; l < k; l += most_depth) {
            const i64 depth = std::min(most_depth, k - l);
            copy_panels(depth, end - begin, right.from(l, begin), panels);
            for (i64 c = begin; c < end; c += panel_width) {
                const i64 width = std::min(panel_width, end - c);
                const float* const panel = panels + (c - begin) * depth;
                const Strided<const float> columns = left.from(0, l);
                const Strided<float> block = out.from(0, c);
                switch ((width + lanes - 1) / lanes) {
                case 1:
                    add_panel<1>(m, depth, columns, panel, block, width, l > 0);
                    break;
                case 2:
                    add_panel<2>(m, depth, columns, panel, block, width, l > 0);
                    break;
                case 3:
                    add_panel<3>(m, depth, columns, panel, block, width, l > 0);
                    break;
                default:
                    add_panel<4>(m, depth, columns, panel, block, width, l > 0);
                }
            }
        }
    }
}

// m is at most n. Panels are made of the many where these lie side by side, and of the few where each of the many lies
// along k.
bool few_rows(i64 m, i64 n, i64 k, MatrixRef<const float> lhs, MatrixRef<const float> rhs, MatrixRef<float> out) {
    if (m * n * k < least_multiplications) return false;
    if (rhs.transposed) {
        if (m > most_few_along || (!lhs.transposed && lhs.ld > most_stride)) return false;
        by_panels(n, m, k, turned(strided(rhs)), turned(strided(lhs)), turned(strided(out)), panel_width, depth_of_few);
    } else {
        if (m < least_few_across || m > most_few_across || k > most_depth_across) return false;
        by_panels(m, n, k, strided(lhs), strided(rhs), strided(out), width_of_many, depth_of_many);
    }
    return true;
}

} // namespace

bool panel_product(i64 m, i64 n, i64 k, MatrixRef<const float> lhs, MatrixRef<const float> rhs, MatrixRef<float> out) {
    static const bool can = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma");
    if (!can || k == 0) return false;
    const auto other_way = []<typename T>(MatrixRef<T> matrix) {
        matrix.transposed = !matrix.transposed;
        return matrix;
    };
    return m <= n ? few_rows(m, n, k, lhs, rhs, out)
                  : few_rows(n, m, k, other_way(rhs), other_way(lhs), other_way(out));
}

#else

bool panel_product(i64, i64, i64, MatrixRef<const float>, MatrixRef<const float>, MatrixRef<float>) { return false; }

#endif

} // namespace shard
