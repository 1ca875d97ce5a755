// Random ops that move elements, and the constraints between them.
#include "tests/support/case_writer.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

Known with_dims(CaseWriter& w, size_t least) {
    return w.any([least](const Known& value) { return value.shape.size() >= least; });
}

void rev(CaseWriter& w) {
    const Known x = with_dims(w, 1);
    if (x.name.empty()) return unary_step(w);
    w.emit(fmt::format("rev: {}, dim: {}", x.name, w.choose(x.shape.size())), x);
}

void transpose(CaseWriter& w) {
    if (w.chance(4)) return rev(w);
    const Known x = with_dims(w, 2);
    if (x.name.empty()) return unary_step(w);
    std::vector<size_t> permutation(x.shape.size());
    for (size_t d = 0; d < permutation.size(); ++d) permutation[d] = permutation.size() - 1 - d;
    for (size_t d = 0; x.shape.size() > 2 && d + 1 < permutation.size(); ++d)
        std::swap(permutation[d], permutation[d + w.choose(permutation.size() - d)]);
    std::vector<i64> shape;
    for (size_t d : permutation) shape.push_back(x.shape[d]);
    w.emit(fmt::format("transpose: {}, permutation: [{}]", x.name, fmt::join(permutation, ", ")), shape, x.dtype,
           x.exact);
}

// Splits a dim, merges two, or cuts the same elements anew: (4, 6) to (8, 3).
void reshape(CaseWriter& w) {
    const Known x = with_dims(w, 1);
    if (x.name.empty()) return unary_step(w);
    std::vector<i64> shape = x.shape;
    const size_t dim = w.choose(shape.size());
    const size_t kind = w.choose(3);
    if (kind != 1 && dim + 1 < shape.size()) {
        shape[dim] *= shape[dim + 1];
        shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dim) + 1);
    }
    if (kind != 0) {
        std::vector<i64> factors;
        for (i64 factor : {2, 4, 3, 1, 6, 5, 8})
            if (shape[dim] % factor == 0) factors.push_back(factor);
        const i64 factor = factors[w.choose(factors.size())];
        shape[dim] /= factor;
        shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dim) + (w.choose(2) == 0 ? 0 : 1), factor);
    }
    w.emit(fmt::format("reshape: {}, shape: [{}]", x.name, fmt::join(shape, ", ")), shape, x.dtype, x.exact);
}

void concatenate(CaseWriter& w) {
    const Known x = with_dims(w, 1);
    if (x.name.empty()) return unary_step(w);
    const size_t dim = w.choose(x.shape.size());
    std::vector<i64> shape = x.shape;
    std::vector<std::string> names = {x.name};
    bool exact = x.exact;
    for (size_t more = 1 + w.choose(2); more > 0 && elements_of(shape) <= 4096; --more) {
        const Known y = w.any([&](const Known& value) {
            std::vector<i64> other = value.shape;
            if (other.size() == x.shape.size()) other[dim] = x.shape[dim];
            return other == x.shape && value.dtype == x.dtype;
        });
        shape[dim] += y.shape[dim];
        exact = exact && y.exact;
        if (w.chance(2))
            names.push_back(y.name);
        else
            names.insert(names.begin(), y.name);
    }
    w.emit(fmt::format("concatenate: [{}], dim: {}", fmt::join(names, ", "), dim), shape, x.dtype, exact);
}

// A scalar start, now and then one beyond the ends.
std::string start_of_window(CaseWriter& w) {
    const Known at = w.tensor({1}, "i32");
    return w.help(fmt::format("reduce_sum: {}", at.name), {"", {}, "i32", true}, true).name;
}

void window(CaseWriter& w) {
    const Known x = with_dims(w, 1);
    if (x.name.empty()) return unary_step(w);
    const size_t dim = w.choose(x.shape.size());
    std::vector<i64> shape = x.shape;
    shape[dim] = 1 + static_cast<i64>(w.choose(static_cast<size_t>(shape[dim])));
    const std::string start = start_of_window(w);
    const std::string taken = fmt::format("dynamic_slice: [{}, {}], dim: {}, size: {}", x.name, start, dim, shape[dim]);
    if (w.chance(2)) {
        w.emit(taken, shape, x.dtype, x.exact);
        return;
    }
    const Known update = w.help(taken, {"", shape, x.dtype, x.exact}, x.exact);
    w.emit(fmt::format("dynamic_update_slice: [{}, {}, {}], dim: {}", x.name, update.name, start, dim), x);
}

void slice(CaseWriter& w) {
    if (w.chance(3)) return window(w);
    const Known x = with_dims(w, 1);
    if (x.name.empty()) return unary_step(w);
    const size_t dim = w.choose(x.shape.size());
    const i64 size = x.shape[dim];
    i64 start = static_cast<i64>(w.choose(static_cast<size_t>(size)));
    i64 limit = start + 1 + static_cast<i64>(w.choose(static_cast<size_t>(size - start)));
    i64 stride = w.chance(3) ? 2 + static_cast<i64>(w.choose(2)) : 1;
    if (size % 2 == 0 && w.chance(2)) { // half of the elements, so that the result can be split as well
        stride = std::min<i64>(stride, 2);
        start %= stride == 2 ? 2 : size / 2 + 1;
        limit = stride == 2 ? size : start + size / 2;
    }
    std::vector<i64> shape = x.shape;
    shape[dim] = (limit - start + stride - 1) / stride;
    w.emit(fmt::format("slice: {}, dim: {}, start: {}, limit: {}, stride: {}", x.name, dim,
                       w.chance(4) ? start - size : start, limit < size && w.chance(4) ? limit - size : limit, stride),
           shape, x.dtype, x.exact);
}

void pad(CaseWriter& w) {
    const Known x = w.any([](const Known& value) { return !value.shape.empty() && value.dtype != "bool"; });
    if (x.name.empty()) return unary_step(w);
    const size_t count = x.shape.size();
    std::vector<i64> low(count), high(count), interior(count), shape = x.shape;
    const bool shifts = w.chance(3);
    for (size_t times = 1 + w.choose(2); times > 0; --times) {
        const size_t dim = w.choose(count);
        if (shifts) {
            low[dim] = static_cast<i64>(w.choose(static_cast<size_t>(2 * x.shape[dim] - 1))) - (x.shape[dim] - 1);
            high[dim] = -low[dim];
            continue;
        }
        low[dim] = static_cast<i64>(w.choose(4));
        high[dim] = static_cast<i64>(w.choose(4));
        interior[dim] = w.chance(4) ? 1 + static_cast<i64>(w.choose(2)) : 0;
        if (w.chance(4)) (w.chance(2) ? low : high)[dim] -= std::min<i64>(x.shape[dim] - 1, 3); // drops some
        shape[dim] = low[dim] + high[dim] + x.shape[dim] + interior[dim] * (x.shape[dim] - 1);
    }
    w.emit(fmt::format("pad: {}, low: [{}], high: [{}], interior: [{}], value: {}", x.name, fmt::join(low, ", "),
                       fmt::join(high, ", "), fmt::join(interior, ", "), w.choose(3)),
           shape, x.dtype, x.exact);
}

void broadcast(CaseWriter& w) {
    const Known x =
        w.any([](const Known& value) { return value.shape.size() <= 3 && elements_of(value.shape) <= 600; });
    if (x.name.empty()) return unary_step(w);
    std::vector<i64> shape = x.shape;
    for (i64& size : shape)
        if (size == 1 && w.chance(2)) size = 4;
    shape.insert(shape.begin(), std::vector<i64>{4, 8, 6, 3}[w.choose(4)]);
    w.emit(fmt::format("broadcast: {}, shape: [{}]", x.name, fmt::join(shape, ", ")), shape, x.dtype, x.exact);
}

void scatter_add(CaseWriter& w) {
    const Known x = w.any([](const Known& value) {
        return !value.shape.empty() && value.shape.size() <= 3 && value.dtype != "bool" &&
               elements_of(value.shape) <= 1000;
    });
    if (x.name.empty()) return unary_step(w);
    const size_t dim = w.choose(x.shape.size());
    const Known ids = w.tensor({x.shape[dim]}, "i32");
    const i64 size = std::vector<i64>{4, 8, 6, 3}[w.choose(4)];
    std::vector<i64> shape = x.shape;
    shape[dim] = size;
    w.emit_rounded(fmt::format("scatter_add: [{}, {}], dim: {}, size: {}", ids.name, x.name, dim, size), shape, x.dtype,
                   x.exact);
}

void gather(CaseWriter& w) {
    if (w.chance(3)) return scatter_add(w);
    const Known x = w.any([](const Known& value) {
        return !value.shape.empty() && value.shape.size() <= 3 && elements_of(value.shape) <= 1000;
    });
    Known ids = w.any([](const Known& value) {
        return value.dtype == "i32" && value.shape.size() <= 2 && elements_of(value.shape) <= 16 &&
               !value.shape.empty();
    });
    if (x.name.empty()) return unary_step(w);
    if (ids.name.empty()) ids = w.tensor({4, 2}, "i32");
    const size_t dim = w.choose(x.shape.size());
    std::vector<i64> shape = x.shape;
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dim));
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dim), ids.shape.begin(), ids.shape.end());
    w.emit(fmt::format("gather: [{}, {}], dim: {}", x.name, ids.name, dim), shape, x.dtype, x.exact && ids.exact);
}

void generate(CaseWriter& w) {
    const CaseAxis &a = w.logical[w.choose(w.logical.size())], &b = w.logical[w.choose(w.logical.size())];
    std::vector<std::string> names = {a.name};
    std::vector<i64> shape = {a.size};
    if (b.name != a.name) {
        names.push_back(b.name);
        shape.push_back(b.size);
    }
    const std::string dtype = w.floating(w.choose({"f32", "i32"}));
    const std::string text = fmt::format("[{}]", fmt::join(names, ", "));
    if (w.chance(3))
        w.emit(fmt::format("constant: 3, axes: {}, dtype: {}", text, dtype), shape, dtype, true);
    else
        w.emit(fmt::format("iota: {}, dim: {}, dtype: {}", text, w.choose(shape.size()), dtype), shape, dtype, true);
}

// By mesh axes, or by the logical axes that have the dims' sizes.
void constrain(CaseWriter& w) {
    const Known x = w.any();
    if (!w.chance(3)) {
        w.emit(fmt::format("constrain: {}, mesh: {}", x.name, random_spec(w, x.shape)), x);
        return;
    }
    std::vector<std::string> names;
    for (i64 size : x.shape) {
        std::string name = "~";
        for (const CaseAxis& axis : w.logical)
            if (axis.size == size && std::find(names.begin(), names.end(), axis.name) == names.end()) name = axis.name;
        names.push_back(name);
    }
    w.emit(fmt::format("constrain: {}, axes: [{}]", x.name, fmt::join(names, ", ")), x);
}

} // namespace

const std::vector<CaseStep>& move_steps() {
    static const std::vector<CaseStep> steps = {reshape, transpose, constrain, concatenate, slice,
                                                pad,     broadcast, gather,    constrain,   generate};
    return steps;
}

} // namespace shard
