// Random running reductions, orders, lookups along one dim and segments.
#include "tests/support/case_writer.h"

#include <fmt/format.h>

namespace shard {

namespace {

bool is_number(const Known& value) {
    return !value.shape.empty() && value.dtype != "bool" && elements_of(value.shape) <= 2000;
}

std::string reverse(CaseWriter& w) { return w.chance(2) ? ", reverse: true" : ""; }

void running(CaseWriter& w) {
    const Known x = w.any(is_number);
    if (x.name.empty()) return unary_step(w);
    const std::string op = w.choose({"cumsum", "cummax", "cummin", "cumprod", "cumlogsumexp"});
    const bool smooth = op == "cumlogsumexp", picks = op == "cummax" || op == "cummin";
    if (smooth && (w.options.integers_only || !is_float(x))) return unary_step(w);
    // Products of small numbers, so that many of them stay numbers.
    const Known of = op == "cumprod" ? w.help(fmt::format("clamp: {}, min: -1, max: 2", x.name), x, x.exact) : x;
    const std::string text = fmt::format("{}: {}, dim: {}{}", op, of.name, w.choose(x.shape.size()), reverse(w));
    if (picks)
        w.emit(text, x);
    else
        w.emit_rounded(text, x.shape, x.dtype, x.exact && !smooth);
}

void recurrence(CaseWriter& w) {
    const Known x = w.any([](const Known& value) { return is_number(value) && is_float(value); });
    if (x.name.empty()) return unary_step(w);
    const Known a = w.help(fmt::format("clamp: {}, min: -1, max: 1", x.name), x, x.exact);
    const Known b = w.any([&](const Known& value) { return value.shape == x.shape && value.dtype == x.dtype; });
    w.emit_rounded(
        fmt::format("linear_recurrence: [{}, {}], dim: {}{}", a.name, b.name, w.choose(x.shape.size()), reverse(w)),
        x.shape, x.dtype, a.exact && b.exact);
}

// Only of exact values: an order jumps.
void order(CaseWriter& w) {
    const Known x = w.any([](const Known& value) { return value.exact && !value.shape.empty(); });
    if (x.name.empty()) return unary_step(w);
    const size_t dim = w.choose(x.shape.size());
    const std::string argument = fmt::format("dim: {}{}", dim, w.chance(2) ? ", descending: true" : "");
    std::vector<i64> shape = x.shape;
    switch (w.choose(3)) {
    case 0:
        w.emit(fmt::format("sort: {}, {}", x.name, argument), x);
        return;
    case 1: {
        const Known y = w.any([&](const Known& value) { return value.exact && value.shape == x.shape; });
        w.emit(fmt::format("argsort: [{}, {}], {}", x.name, y.name, argument), x.shape, "i32", true);
        return;
    }
    default:
        shape[dim] = 1 + static_cast<i64>(w.choose(static_cast<size_t>(shape[dim])));
        w.emit(fmt::format("argsort: {}, {}, first: {}", x.name, argument, shape[dim]), shape, "i32", true);
    }
}

// Indices for each place of the other dims, now and then beyond the ends; and back, combined where they meet.
void along(CaseWriter& w) {
    const Known x = w.any(is_number);
    if (x.name.empty()) return unary_step(w);
    const size_t dim = w.choose(x.shape.size());
    std::vector<i64> shape = x.shape;
    shape[dim] = std::vector<i64>{4, 2, 6, 3}[w.choose(4)];
    const Known indices = w.tensor(shape, "i32");
    if (w.chance(2)) {
        w.emit(fmt::format("take_along_axis: [{}, {}], dim: {}", x.name, indices.name, dim), shape, x.dtype, x.exact);
        return;
    }
    const Known updates = w.tensor(shape, x.dtype);
    std::string batch;
    for (size_t d = 0; d < shape.size(); ++d)
        if (d != dim) batch += fmt::format("{}[{}, {}]", batch.empty() ? "" : ", ", d, d);
    const std::string op = w.choose({"scatter_add", "scatter_max", "scatter_min"});
    const std::string text = fmt::format("{}: [{}, {}, {}], dim: {}{}", op, x.name, indices.name, updates.name, dim,
                                         batch.empty() ? "" : fmt::format(", batch: [{}]", batch));
    if (op == "scatter_add")
        w.emit_rounded(text, x.shape, x.dtype, x.exact);
    else
        w.emit(text, x);
}

// A table for each place of a first dim that the indices have last.
void batched(CaseWriter& w) {
    const Known x = w.any([](const Known& value) { return is_number(value) && value.shape.size() == 2; });
    if (x.name.empty()) return along(w);
    const Known indices = w.tensor({3, x.shape[0]}, "i32");
    w.emit(fmt::format("gather: [{}, {}], dim: 1, batch: [[0, 1]]", x.name, indices.name), {x.shape[0], 3}, x.dtype,
           x.exact);
}

void roll(CaseWriter& w) {
    const Known x = w.any([](const Known& value) { return !value.shape.empty(); });
    if (x.name.empty()) return unary_step(w);
    w.emit(fmt::format("roll: {}, dim: {}, shift: {}", x.name, w.choose(x.shape.size()),
                       static_cast<i64>(w.choose(9)) - 4),
           x);
}

} // namespace

const std::vector<CaseStep>& order_steps() {
    static const std::vector<CaseStep> steps = {running, order, along, recurrence, batched, roll, running, order};
    return steps;
}

} // namespace shard
