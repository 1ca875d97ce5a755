// Random pointwise ops, reductions and contractions.
#include "tests/support/case_writer.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

using Names = std::vector<std::string>;

// |x| + 1, of whole numbers too: a divisor, a base, the argument of a logarithm.
Known positive(CaseWriter& w, const Known& x) {
    const Known magnitude = w.help("abs: " + x.name, x, x.exact);
    return w.help(fmt::format("add: [{}, 1]", magnitude.name), x,
                  x.exact && (w.options.integers_only || x.dtype == "i32"));
}

Known bounded(CaseWriter& w, const Known& x) {
    return w.help(fmt::format("clamp: {}, min: -2, max: 3", x.name), x, x.exact);
}

void smooth(CaseWriter& w, const Known& x) {
    static const Names anywhere = {"tanh",  "logistic", "erf", "sin",   "cos",  "silu",  "gelu",
                                   "expm1", "exp",      "log", "log1p", "sqrt", "rsqrt", "cbrt"};
    const std::string op = w.choose(anywhere);
    Known operand = x;
    if (op == "exp" || op == "expm1" || op == "sin" || op == "cos") operand = bounded(w, x);
    if (op == "log" || op == "log1p" || op == "sqrt" || op == "rsqrt" || op == "cbrt") operand = positive(w, x);
    const std::string argument = op == "gelu" && w.chance(2) ? ", approximate: false" : "";
    w.emit(fmt::format("{}: {}{}", op, operand.name, argument), x.shape, x.dtype, false);
}

// Broadcast of two shapes, aligned at the last dim; {-1} if they do not fit.
std::vector<i64> broadcast(const std::vector<i64>& x, const std::vector<i64>& y) {
    const std::vector<i64>&longer = x.size() < y.size() ? y : x, &shorter = x.size() < y.size() ? x : y;
    std::vector<i64> shape = longer;
    for (size_t d = 1; d <= shorter.size(); ++d) {
        i64 &a = shape[shape.size() - d], b = shorter[shorter.size() - d];
        if (a != b && a != 1 && b != 1) return {-1};
        a = std::max(a, b);
    }
    return shape;
}

// Another operand of the same type that broadcasts with x to no more than a few thousand elements.
Known partner(CaseWriter& w, const Known& x) {
    return w.any([&](const Known& y) {
        const std::vector<i64> shape = broadcast(x.shape, y.shape);
        return y.dtype == x.dtype && shape != std::vector<i64>{-1} && elements_of(shape) <= 4096;
    });
}

void binary(CaseWriter& w) {
    static const Names numbers = {"add", "sub", "mul", "max", "min"};
    const Known x = w.any();
    Known y = partner(w, x);
    if (y.name.empty()) return unary_step(w);
    const std::vector<i64> shape = broadcast(x.shape, y.shape);
    const bool exact = x.exact && y.exact, turn = w.chance(4);
    if (x.dtype == "bool") {
        w.emit(fmt::format("{}: [{}, {}]", w.choose({"and", "or", "eq", "ne"}), x.name, y.name), shape, "bool", exact);
        return;
    }
    std::string op = w.choose(numbers);
    if (turn && x.dtype == "i32")
        op = w.choose({"rem", "trunc_div", "div", "bit_and", "bit_or", "bit_xor"});
    else if (turn && !w.options.integers_only)
        op = w.choose({"div", "atan2", "pow"});
    if (op == "rem" || op == "trunc_div" || op == "div") y = positive(w, y);
    Known left = x;
    if (op == "pow") {
        left = bounded(w, positive(w, x));
        y = bounded(w, y);
    }
    if (w.chance(8) && op != "pow")
        w.emit_rounded(fmt::format("{}: [{}, {}]", op, left.name, 2), x.shape, x.dtype, x.exact);
    else if (op == "max" || op == "min")
        w.emit(fmt::format("{}: [{}, {}]", op, x.name, y.name), shape, x.dtype, exact);
    else
        w.emit_rounded(fmt::format("{}: [{}, {}]", op, left.name, y.name), shape, x.dtype, exact);
}

void compare(CaseWriter& w) {
    const Known x = w.any([](const Known& value) { return value.exact && value.dtype != "bool"; });
    if (x.name.empty()) return unary_step(w);
    const Known y = w.any([&](const Known& value) {
        return value.exact && value.dtype == x.dtype && broadcast(x.shape, value.shape) == x.shape;
    });
    const Known p = w.emit(
        fmt::format("{}: [{}, {}]", w.choose({"gt", "ge", "lt", "le", "eq", "ne"}), x.name, w.chance(3) ? "0" : y.name),
        x.shape, "bool", true);
    const Known a =
        w.any([&](const Known& value) { return value.dtype != "bool" && broadcast(value.shape, p.shape) == p.shape; });
    const std::string other = w.chance(2) || broadcast(a.shape, p.shape) != p.shape ? "1" : a.name;
    if (a.name.empty()) return;
    w.emit(w.chance(2) ? fmt::format("select: [{}, {}, {}]", p.name, a.name, other)
                       : fmt::format("select: [{}, {}, {}]", p.name, other == "1" ? "0" : other, a.name),
           p.shape, a.dtype, a.exact);
}

void cast(CaseWriter& w) {
    const Known x = w.any();
    Names to = {"f32"};
    if (x.dtype == "f32") to = {"bf16", "f64"};
    if (x.exact && is_float(x)) to.push_back("i32");
    if (!is_float(x)) to.push_back("i32");
    const std::string dtype = w.floating(w.choose(to));
    w.emit(fmt::format("cast: {}, dtype: {}", x.name, dtype), x.shape, dtype,
           x.exact && (w.options.integers_only || dtype != "bf16"));
}

// Ops on the bits of whole numbers, small ones stay small; and what has no gradient.
void bits(CaseWriter& w) {
    const Known x = w.any([](const Known& value) { return value.dtype == "i32"; });
    if (x.name.empty()) {
        if (w.options.f64_only) return unary_step(w); // whose gradients are compared with differences
        const Known any = w.any();
        w.emit("stop_gradient: " + any.name, any);
        return;
    }
    switch (w.choose(3)) {
    case 0:
        w.emit("bit_not: " + x.name, x);
        return;
    case 1:
        w.emit(fmt::format("shift_left: [{}, 1]", x.name), x);
        return;
    default:
        w.emit(fmt::format("bitcast: [{{bitcast: [{}], dtype: f32}}], dtype: i32", x.name), x);
    }
}

void reduce(CaseWriter& w) {
    const Known x = w.any([](const Known& value) { return value.dtype != "bool" && !value.shape.empty(); });
    std::vector<size_t> dims;
    std::vector<i64> shape;
    const bool keep = w.chance(3);
    const size_t first = w.choose(x.shape.size()), second = w.chance(3) ? w.choose(x.shape.size()) : first;
    i64 summed = 1;
    for (size_t d = 0; d < x.shape.size(); ++d) {
        const bool gone = d == first || d == second;
        if (gone) dims.push_back(d);
        if (gone) summed *= x.shape[d];
        if (!gone || keep) shape.push_back(gone ? 1 : x.shape[d]);
    }
    std::string op = w.choose({"reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "mean"});
    if (op == "mean" && (w.options.integers_only || !is_float(x))) op = "reduce_sum";
    if (op == "reduce_prod" && summed > 12) op = "reduce_sum";
    const std::string text =
        fmt::format("{}: {}, dims: [{}]{}", op, x.name, fmt::join(dims, ", "), keep ? ", keepdims: true" : "");
    if (op == "reduce_max" || op == "reduce_min")
        w.emit(text, shape, x.dtype, x.exact);
    else
        w.emit_rounded(text, shape, x.dtype, x.exact);
}

} // namespace

void unary_step(CaseWriter& w) {
    const Known x = w.any();
    if (x.dtype == "bool")
        w.emit("not: " + x.name, x);
    else if (is_float(x) && !w.options.integers_only && w.chance(2))
        smooth(w, x);
    else if (is_float(x) && x.exact && w.chance(3))
        w.emit(fmt::format("{}: {}", w.choose({"floor", "ceil", "round", "sign"}), x.name), x);
    else if (w.chance(6))
        w.emit_rounded("square: " + x.name, x.shape, x.dtype, x.exact);
    else if (w.chance(6))
        bounded(w, x);
    else
        w.emit(fmt::format("{}: {}", w.choose({"neg", "relu", "abs"}), x.name), x);
}

const std::vector<CaseStep>& pointwise_steps() {
    static const std::vector<CaseStep> steps = {binary, unary_step, reduce, compare, cast, binary, reduce, bits};
    return steps;
}

} // namespace shard
