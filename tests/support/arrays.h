// Arrays of f64 and plain ways through them, for the interpreter.
#pragma once

#include "plans/sharding/type.h"

#include <array>
#include <vector>

namespace shard {

struct Array {
    Shape shape;
    std::vector<double> values; // row-major
};

using Index = std::vector<i64>;
using Steps = std::vector<i64>; // by dim: how far an element moves in an array when the index grows by one

i64 count_of(const Shape& shape);
Steps row_major_steps(const Shape& shape);

// visit(index) for every index of a shape, row-major.
template<typename Visit>
void for_each(const Shape& shape, Visit&& visit) {
    Index index(shape.size(), 0);
    const i64 count = count_of(shape);
    for (i64 n = 0; n < count; ++n) {
        visit(static_cast<const Index&>(index));
        for (size_t d = shape.size(); d-- > 0;) {
            if (++index[d] < shape[d]) break;
            index[d] = 0;
        }
    }
}

// visit(offsets) for every index of a shape, row-major: offsets[a] = index . steps[a].
template<size_t count, typename Visit>
void walk(const Shape& shape, const std::array<Steps, count>& steps, Visit&& visit) {
    Index index(shape.size(), 0);
    std::array<i64, count> offsets = {};
    const i64 elements = count_of(shape);
    for (i64 n = 0; n < elements; ++n) {
        visit(static_cast<const std::array<i64, count>&>(offsets));
        for (size_t d = shape.size(); d-- > 0;) {
            const bool ends = ++index[d] == shape[d];
            for (size_t a = 0; a < count; ++a) offsets[a] += steps[a][d] * (ends ? 1 - shape[d] : 1);
            if (!ends) break;
            index[d] = 0;
        }
    }
}

// An array whose element at an index is f(index).
template<typename F>
Array make(const Shape& shape, F&& f) {
    Array array{shape, {}};
    array.values.reserve(static_cast<size_t>(count_of(shape)));
    for_each(shape, [&](const Index& index) { array.values.push_back(f(index)); });
    return array;
}

// An array whose element at an index is that of `from` at start + index . steps.
Array strided(const Array& from, const Shape& shape, i64 start, const Steps& steps);

// Sums, over the letters that `out` lacks, of products of the elements under those letters.
Array einsum(const std::string& left_letters, const Array& left, const std::string& right_letters, const Array& right,
             const std::string& out_letters);

} // namespace shard
