#include "importer/complex/fourier.h"

#include <numbers>
#include <numeric>

namespace shard {

namespace {

// A product of this size is cheaper than two of its factors and what lies between.
constexpr i64 longest_product = 128;

// The largest factor that one product transforms; of a prime length, or one without small factors, all of it.
i64 first_factor(i64 length) {
    if (length <= longest_product) return length;
    for (i64 factor = longest_product; factor > 1; --factor)
        if (length % factor == 0) return factor;
    return length;
}

MlirType with_dims(const MlirType& type, size_t kept, std::initializer_list<i64> dims) {
    MlirType changed = type;
    changed.shape.resize(kept);
    changed.shape.insert(changed.shape.end(), dims);
    return changed;
}

Part reshaped(RealOps& ops, Part x, const MlirType& type) {
    if (!x || ops.type(*x) == type) return x;
    return ops.make("stablehlo.reshape", {*x}, type);
}

Part swapped(RealOps& ops, Part x, size_t a, size_t b) {
    if (!x || a == b) return x;
    MlirType type = ops.type(*x);
    std::swap(type.shape[a], type.shape[b]);
    std::vector<i64> dims(type.shape.size());
    std::iota(dims.begin(), dims.end(), 0);
    std::swap(dims[a], dims[b]);
    return ops.make("stablehlo.transpose", {*x}, type, {list_item("dims", {dims})});
}

Part sliced(RealOps& ops, Part x, i64 start, i64 limit) { // along the last dim
    if (!x) return x;
    MlirType type = ops.type(*x);
    if (start == 0 && limit == type.shape.back()) return x;
    std::vector<i64> starts(type.shape.size(), 0), limits = {type.shape.begin(), type.shape.end()};
    starts.back() = start, limits.back() = limit;
    type.shape.back() = limit - start;
    return ops.make("stablehlo.slice", {*x}, type,
                    {list_item("start_indices", {starts}), list_item("limit_indices", {limits}),
                     list_item("strides", {std::vector<i64>(starts.size(), 1)})});
}

// exp(direction 2 pi i j k / period), (rows, columns): cosines and sines. j k is taken modulo the period in whole
// numbers, so that angles stay within one turn.
Pair waves(RealOps& ops, const MlirType& like, i64 rows, i64 columns, i64 period, Fourier direction) {
    const MlirType whole{"i32", {rows, columns}, true}, real = with_dims(like, 0, {rows, columns});
    const MlirId j = ops.make("stablehlo.iota", {}, whole, {integer_item("dim", 0)});
    const MlirId k = ops.make("stablehlo.iota", {}, whole, {integer_item("dim", 1)});
    MlirId product = *ops.multiply(j, k);
    if ((rows - 1) * (columns - 1) >= period)
        product = ops.make("stablehlo.remainder", {product, ops.number(static_cast<double>(period), whole)}, whole);
    const double turn = (direction == Fourier::forward ? -2 : 2) * std::numbers::pi / static_cast<double>(period);
    const MlirId angle = *ops.multiply(ops.make("stablehlo.convert", {product}, real), ops.number(turn, real));
    return {ops.apply("stablehlo.cosine", angle), ops.apply("stablehlo.sine", angle)};
}

// The last dim but one, or the last, times a matrix's rows: what is left, and the matrix's columns.
Part product(RealOps& ops, Part x, Part matrix, size_t dim) {
    if (!x || !matrix) return std::nullopt;
    MlirType type = ops.type(*x);
    type.shape.erase(type.shape.begin() + static_cast<std::ptrdiff_t>(dim));
    type.shape.push_back(ops.type(*matrix).shape[1]);
    return ops.make("stablehlo.dot_general", {*x, *matrix}, type,
                    {list_item("contracting_dims", {{static_cast<i64>(dim)}, {0}})});
}

Pair turned(RealOps& ops, const Pair& x, const Pair& by) {
    return {ops.subtract(ops.multiply(x.real, by.real), ops.multiply(x.imaginary, by.imaginary)),
            ops.add(ops.multiply(x.real, by.imaginary), ops.multiply(x.imaginary, by.real))};
}

Pair transformed(RealOps& ops, const Pair& x, const Pair& by, size_t dim) {
    return {ops.subtract(product(ops, x.real, by.real, dim), product(ops, x.imaginary, by.imaginary, dim)),
            ops.add(product(ops, x.real, by.imaginary, dim), product(ops, x.imaginary, by.real, dim))};
}

Part spread_over(RealOps& ops, Part x, const MlirType& type) { // the last dims are x's
    const i64 rank = std::ssize(type.shape);
    return ops.make("stablehlo.broadcast_in_dim", {*x}, type, {list_item("dims", {{rank - 2, rank - 1}})});
}

// Along the last dim, without the inverse's division; the first `columns` where one product makes them.
Pair along_last(RealOps& ops, const Pair& x, const MlirType& type, Fourier direction, i64 columns) {
    const i64 n = type.shape.back(), a = first_factor(n), b = n / a;
    const size_t before = type.shape.size() - 1;
    if (b == 1) return transformed(ops, x, waves(ops, type, n, columns, n, direction), before);
    // x[j1, j2] -> [j2, k1], turned -> [k1, j2] -> [k1, k2] -> X[k2, k1]
    const MlirType rows = with_dims(type, before, {a, b}), turned_rows = with_dims(type, before, {b, a});
    Pair made = {reshaped(ops, x.real, rows), reshaped(ops, x.imaginary, rows)};
    made = transformed(ops, made, waves(ops, type, a, a, a, direction), before);
    const Pair turns = waves(ops, type, b, a, n, direction);
    made =
        turned(ops, made, {spread_over(ops, turns.real, turned_rows), spread_over(ops, turns.imaginary, turned_rows)});
    made = {swapped(ops, made.real, before, before + 1), swapped(ops, made.imaginary, before, before + 1)};
    made = along_last(ops, made, rows, direction, b);
    made = {swapped(ops, made.real, before, before + 1), swapped(ops, made.imaginary, before, before + 1)};
    return {reshaped(ops, made.real, type), reshaped(ops, made.imaginary, type)};
}

Part scaled(RealOps& ops, Part x, double by) {
    if (!x || by == 1) return x;
    const MlirType type = ops.type(*x);
    return ops.multiply(x, ops.number(by, type));
}

} // namespace

bool can_transform(i64 length) {
    while (length > most_fourier_factor) {
        const i64 factor = first_factor(length);
        if (factor == length) return false;
        length /= factor;
    }
    return true;
}

Pair fourier(RealOps& ops, const Pair& x, const MlirType& type, size_t dim, Fourier direction) {
    const size_t last = type.shape.size() - 1;
    MlirType moved = type;
    std::swap(moved.shape[dim], moved.shape[last]);
    const i64 n = moved.shape.back();
    Pair made = {swapped(ops, x.real, dim, last), swapped(ops, x.imaginary, dim, last)};
    made = along_last(ops, made, moved, direction, n);
    const double by = direction == Fourier::inverse ? 1 / static_cast<double>(n) : 1;
    return {scaled(ops, swapped(ops, made.real, dim, last), by),
            scaled(ops, swapped(ops, made.imaginary, dim, last), by)};
}

Pair fourier_of_real(RealOps& ops, MlirId x) {
    const MlirType type = ops.type(x);
    const i64 kept = type.shape.back() / 2 + 1;
    const Pair made = along_last(ops, {x, std::nullopt}, type, Fourier::forward, kept);
    return {sliced(ops, made.real, 0, kept), sliced(ops, made.imaginary, 0, kept)};
}

Part fourier_to_real(RealOps& ops, const Pair& x, const MlirType& type, i64 length) {
    // What is left out are the conjugates of those that are there, the last of them first.
    const i64 there = type.shape.back(), left_out = length - there, last = std::ssize(type.shape) - 1;
    MlirType full = type;
    full.shape.back() = length;
    const auto completed = [&](Part part, bool negated) -> Part {
        if (!part || left_out == 0) return part;
        Part mirrored = sliced(ops, part, 1, 1 + left_out);
        const MlirType mirrored_type = ops.type(*mirrored);
        mirrored = ops.make("stablehlo.reverse", {*mirrored}, mirrored_type, {list_item("dims", {{last}})});
        if (negated) mirrored = ops.negate(mirrored);
        return ops.make("stablehlo.concatenate", {*part, *mirrored}, full, {integer_item("dim", last)});
    };
    const Pair all = {completed(x.real, false), completed(x.imaginary, true)};
    return scaled(ops, along_last(ops, all, full, Fourier::inverse, length).real, 1 / static_cast<double>(length));
}

} // namespace shard
