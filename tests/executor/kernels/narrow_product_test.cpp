#include "executor/kernels/narrow_product.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <vector>

namespace shard {
namespace {

template<typename T>
struct Matrix {
    std::vector<T> values;
    bool transposed;
    i64 ld;

    Matrix(i64 rows, i64 columns, bool turned)
        : values(static_cast<size_t>((rows + 3) * (columns + 3))), transposed(turned),
          ld(turned ? rows + 3 : columns + 3) {}
    T& at(i64 row, i64 column) {
        return values[static_cast<size_t>(transposed ? column * ld + row : row * ld + column)];
    }
};

// Whole numbers, whose sums are exact in any order.
template<typename T>
void check_product(i64 m, i64 n, i64 k, bool expected) {
    for (int layout = 0; layout < 8; ++layout) {
        Matrix<T> lhs(m, k, (layout & 1) != 0), rhs(k, n, (layout & 2) != 0), out(m, n, (layout & 4) != 0);
        for (i64 i = 0; i < m; ++i)
            for (i64 l = 0; l < k; ++l) lhs.at(i, l) = static_cast<T>((i * 7 + l * 3) % 11 - 5);
        for (i64 l = 0; l < k; ++l)
            for (i64 j = 0; j < n; ++j) rhs.at(l, j) = static_cast<T>((l * 5 + j * 2) % 13 - 6);
        const std::vector<T> before = out.values;
        const bool done = narrow_product(m, n, k, MatrixRef<const T>{lhs.values.data(), lhs.transposed, lhs.ld},
                                         MatrixRef<const T>{rhs.values.data(), rhs.transposed, rhs.ld},
                                         MatrixRef<T>{out.values.data(), out.transposed, out.ld});
        CAPTURE(m);
        CAPTURE(n);
        CAPTURE(k);
        CAPTURE(layout);
        if (!expected) CHECK_FALSE(done);
        if (!done) {
            CHECK(out.values == before);
            continue;
        }
        int wrong = 0;
        for (i64 i = 0; i < m; ++i)
            for (i64 j = 0; j < n; ++j) {
                T sum = 0;
                for (i64 l = 0; l < k; ++l) sum += lhs.at(i, l) * rhs.at(l, j);
                wrong += out.at(i, j) == sum ? 0 : 1;
                out.at(i, j) = 0;
            }
        CHECK(wrong == 0);
        CHECK(out.values == before); // nothing beside the result was written
    }
}

} // namespace

TEST_CASE("narrow products of every layout are the sums of products") {
    for (const std::array<i64, 3> sizes : {std::array<i64, 3>{1, 1, 1},
                                           {1, 600, 37},
                                           {2, 5, 2000},
                                           {3, 513, 1030},
                                           {4, 16, 512},
                                           {8, 1025, 1100},
                                           {600, 1, 37},
                                           {5, 2, 300},
                                           {513, 3, 700},
                                           {1030, 7, 65},
                                           {40, 50, 1},
                                           {70, 600, 2},
                                           {33, 1025, 3},
                                           {600, 700, 4},
                                           {1, 1024, 100},
                                           {6, 9, 9},
                                           {4, 5, 0}}) {
        check_product<float>(sizes[0], sizes[1], sizes[2], true);
        check_product<double>(sizes[0], sizes[1], sizes[2], true);
    }
}

TEST_CASE("products that OpenBLAS does faster are left to it") {
    check_product<float>(9, 9, 9, false);
    check_product<float>(64, 64, 5, false);
    check_product<float>(16, 256, 1024, false);
}

} // namespace shard
