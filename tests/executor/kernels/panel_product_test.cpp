#include "executor/kernels/panel_product.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <vector>

namespace shard {
namespace {

struct Matrix {
    std::vector<float> values;
    bool transposed;
    i64 ld;

    Matrix(i64 rows, i64 columns, bool turned)
        : values(static_cast<size_t>((rows + 3) * (columns + 3)), 7.0F), transposed(turned),
          ld(turned ? rows + 3 : columns + 3) {}
    float& at(i64 row, i64 column) {
        return values[static_cast<size_t>(transposed ? column * ld + row : row * ld + column)];
    }
    void fill(i64 rows, i64 columns, i64 seed) {
        for (i64 r = 0; r < rows; ++r)
            for (i64 c = 0; c < columns; ++c)
                at(r, c) = static_cast<float>((r * 7919 + c * 104729 + seed) % 2003 - 1001) / 1024.0F;
    }
};

// How many of the eight ways in which the matrices may lie are taken; those that are have each sum added up in the order of
// k, with one rounding for each product, and write nothing but the result.
int ways_taken(i64 m, i64 n, i64 k) {
    CAPTURE(m);
    CAPTURE(n);
    CAPTURE(k);
    int taken = 0;
    for (int layout = 0; layout < 8; ++layout) {
        CAPTURE(layout);
        Matrix lhs(m, k, (layout & 1) != 0), rhs(k, n, (layout & 2) != 0), out(m, n, (layout & 4) != 0);
        lhs.fill(m, k, 1);
        rhs.fill(k, n, 2);
        const std::vector<float> before = out.values;
        if (!panel_product(m, n, k, {lhs.values.data(), lhs.transposed, lhs.ld},
                           {rhs.values.data(), rhs.transposed, rhs.ld}, {out.values.data(), out.transposed, out.ld})) {
            CHECK(out.values == before);
            continue;
        }
        ++taken;
        int wrong = 0;
        for (i64 i = 0; i < m; ++i)
            for (i64 j = 0; j < n; ++j) {
                float sum = 0;
                for (i64 l = 0; l < k; ++l) sum = std::fma(lhs.at(i, l), rhs.at(l, j), sum);
                wrong += out.at(i, j) == sum ? 0 : 1;
                out.at(i, j) = 7.0F;
            }
        CHECK(wrong == 0);
        CHECK(out.values == before);
    }
    return taken;
}

bool has_the_registers() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

} // namespace

TEST_CASE("products of some dozens of rows are added up in order, whatever way the matrices lie") {
    const int all = has_the_registers() ? 8 : 0;
    for (const std::array<i64, 3> sizes : {std::array<i64, 3>{16, 200, 100},
                                           {17, 67, 64},
                                           {33, 129, 515},
                                           {63, 95, 1024},
                                           {64, 64, 64},
                                           {95, 63, 70},
                                           {131, 40, 1000},
                                           {128, 700, 130}})
        CHECK(ways_taken(sizes[0], sizes[1], sizes[2]) == all);
    const int along = has_the_registers() ? 4 : 0; // where each of the many lies along k
    for (const std::array<i64, 3> sizes :
         {std::array<i64, 3>{9, 100, 50}, {15, 130, 33}, {9, 40, 2100}, {100, 128, 1025}, {20, 30, 4100}})
        CHECK(ways_taken(sizes[0], sizes[1], sizes[2]) == along);
}

TEST_CASE("products that OpenBLAS does as fast are left to it") {
    CHECK(ways_taken(9, 9, 9) == 0);
    CHECK(ways_taken(129, 129, 64) == 0);
    CHECK(ways_taken(64, 64, 0) == 0);
}

} // namespace shard
