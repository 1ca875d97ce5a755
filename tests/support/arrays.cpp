#include "tests/support/arrays.h"

#include <map>

namespace shard {

namespace {

Steps steps_of(const std::string& letters, const Shape& shape, const std::string& order) {
    const Steps own = row_major_steps(shape);
    Steps steps;
    for (char c : order) {
        i64 step = 0; // a letter that is not there does not move; one that is there twice moves along the diagonal
        for (size_t d = 0; d < letters.size(); ++d)
            if (letters[d] == c) step += own[d];
        steps.push_back(step);
    }
    return steps;
}

// out[i, j] = sum over l of left[i, l] * right[j, l], the terms added in order. Four rows at a time: each sum waits for
// its last term, so four of them take the time of one.
void multiply(const double* left, const double* right, double* out, i64 m, i64 n, i64 k) {
    for (i64 j = 0; j < n; ++j) {
        const double* r = right + j * k;
        i64 i = 0;
        for (; i + 4 <= m; i += 4) {
            const double *a = left + i * k, *b = a + k, *c = b + k, *d = c + k;
            double sum_a = 0, sum_b = 0, sum_c = 0, sum_d = 0;
            for (i64 l = 0; l < k; ++l) {
                sum_a += a[l] * r[l];
                sum_b += b[l] * r[l];
                sum_c += c[l] * r[l];
                sum_d += d[l] * r[l];
            }
            out[i * n + j] = sum_a;
            out[(i + 1) * n + j] = sum_b;
            out[(i + 2) * n + j] = sum_c;
            out[(i + 3) * n + j] = sum_d;
        }
        for (; i < m; ++i) {
            double sum = 0;
            for (i64 l = 0; l < k; ++l) sum += left[i * k + l] * r[l];
            out[i * n + j] = sum;
        }
    }
}

} // namespace

i64 count_of(const Shape& shape) {
    i64 count = 1;
    for (i64 size : shape) count *= size;
    return count;
}

Steps row_major_steps(const Shape& shape) {
    Steps steps(shape.size());
    i64 step = 1;
    for (size_t d = shape.size(); d-- > 0; step *= shape[d]) steps[d] = step;
    return steps;
}

Array strided(const Array& from, const Shape& shape, i64 start, const Steps& steps) {
    Array array{shape, {}};
    array.values.reserve(static_cast<size_t>(count_of(shape)));
    walk<1>(shape, {steps},
            [&](const std::array<i64, 1>& offsets) { array.values.push_back(from.values[start + offsets[0]]); });
    return array;
}

// Both operands are laid out as (batch, own letters, summed letters), multiplied, and the result put in order.
Array einsum(const std::string& left_letters, const Array& left, const std::string& right_letters, const Array& right,
             const std::string& out_letters) {
    std::map<char, i64> sizes;
    for (size_t d = 0; d < left_letters.size(); ++d) sizes[left_letters[d]] = left.shape[d];
    for (size_t d = 0; d < right_letters.size(); ++d) sizes[right_letters[d]] = right.shape[d];
    const auto is_in = [](const std::string& letters, char c) { return letters.find(c) != std::string::npos; };
    std::string batch, rows, columns, summed;
    for (const auto& [c, size] : sizes)
        if (!is_in(out_letters, c)) summed += c;
    for (char c : out_letters) (!is_in(left_letters, c) ? columns : !is_in(right_letters, c) ? rows : batch) += c;
    const auto shape_of = [&sizes](const std::string& letters) {
        Shape shape;
        for (char c : letters) shape.push_back(sizes.at(c));
        return shape;
    };
    const auto arranged = [&](const std::string& letters, const Array& array, const std::string& order) {
        return strided(array, shape_of(order), 0, steps_of(letters, array.shape, order));
    };
    const Array a = arranged(left_letters, left, batch + rows + summed),
                b = arranged(right_letters, right, batch + columns + summed);
    const i64 m = count_of(shape_of(rows)), n = count_of(shape_of(columns)), k = count_of(shape_of(summed));
    Array product{shape_of(batch + rows + columns), {}};
    product.values.resize(static_cast<size_t>(count_of(product.shape)));
    for (i64 i = 0; i < count_of(shape_of(batch)); ++i)
        multiply(a.values.data() + i * m * k, b.values.data() + i * n * k, product.values.data() + i * m * n, m, n, k);
    return arranged(batch + rows + columns, product, out_letters);
}

} // namespace shard
