// Random composites, modules and repetitions.
#include "tests/support/case_writer.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

Known floating(CaseWriter& w) {
    return w.any([](const Known& value) { return is_float(value) && !value.shape.empty(); });
}

void normalize(CaseWriter& w) {
    const Known x = floating(w);
    if (x.name.empty() || w.options.integers_only) return unary_step(w);
    const size_t dim = w.chance(3) ? w.choose(x.shape.size()) : x.shape.size() - 1;
    const std::string op = w.choose({"softmax", "layer_norm", "rms_norm", "log_softmax", "logsumexp"});
    std::vector<i64> shape = x.shape;
    std::string operands = x.name, arguments;
    if (op == "logsumexp") {
        shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dim));
        arguments = fmt::format(", dims: [{}]", dim);
    } else {
        arguments = fmt::format(", dim: {}", dim);
    }
    if (op == "layer_norm" || op == "rms_norm") {
        // A large eps: rows without variance would magnify rounding errors.
        arguments += ", eps: 0.1";
        for (size_t more = w.choose(op == "layer_norm" ? 3 : 2); more > 0; --more) {
            Known vector = w.any([&](const Known& value) {
                return value.shape == std::vector<i64>{x.shape[dim]} && value.dtype == x.dtype;
            });
            if (vector.name.empty()) vector = w.tensor({x.shape[dim]}, x.dtype);
            operands += ", " + vector.name;
        }
        operands = fmt::format("[{}]", operands);
    }
    w.emit(fmt::format("{}: {}{}", op, operands, arguments), shape, x.dtype, false);
}

// What ways there are then, the layout's `attention` says (random_case.cpp).
void split_sequence(CaseWriter& w, Known& q, Known& k, Known& v) {
    std::vector<std::string> axes;
    for (const CaseAxis& axis : w.mesh)
        if (axis.size > 1 && q.shape[1] % axis.size == 0) axes.push_back(axis.name);
    if (axes.empty()) return;
    const std::string axis = w.choose(axes);
    for (Known* of : {&q, &k, &v})
        *of = w.help(fmt::format("constrain: {}, mesh: [~, {}, ~, ~]", of->name, axis), *of, of->exact);
}

void attention(CaseWriter& w) {
    if (w.options.integers_only) return unary_step(w);
    const i64 batch = std::vector<i64>{2, 4}[w.choose(2)], length = std::vector<i64>{4, 6, 8, 16, 24}[w.choose(5)];
    const i64 kv_heads = std::vector<i64>{2, 1, 4}[w.choose(3)], heads = kv_heads * (1 + static_cast<i64>(w.choose(3))),
              width = 4;
    const std::string dtype = w.floating(w.choose(std::vector<std::string>{"f32", "f32", "f32", "bf16"}));
    Known q = w.tensor({batch, length, heads, width}, dtype);
    Known k = w.tensor({batch, length, kv_heads, width}, dtype), v = w.tensor({batch, length, kv_heads, width}, dtype);
    if (w.chance(3)) q = w.emit("rope: " + q.name, q.shape, dtype, false);
    if (w.chance(2)) split_sequence(w, q, k, v);
    std::string arguments = w.chance(2) ? ", causal: true" : "";
    if (w.chance(3)) arguments += fmt::format(", window: {}", 1 + w.choose(5));
    if (w.chance(4)) arguments += ", soft_cap: 2";
    if (w.chance(4)) arguments += ", scale: 0.25";
    std::string pairs;
    if (w.chance(4)) {
        const std::vector<i64> shape = {w.chance(2) ? 1 : batch, w.chance(2) ? 1 : heads, w.chance(2) ? 1 : length,
                                        length};
        pairs += ", " + w.tensor(shape, dtype).name;
    }
    if (w.chance(4)) // a query sees keys that are an even number of positions away
        pairs += fmt::format(", {{eq: [{{rem: [{{add: [{{iota: [1, 1, {0}, {0}], dim: 2}}, {{iota: [1, 1, {0}, {0}], "
                             "dim: 3}}]}}, 2]}}, 0]}}",
                             length);
    if (w.chance(4))
        pairs += fmt::format(", {{div: [{{iota: [{0}, {1}], dim: 1}}, 3]}}, {{div: [{{iota: [{0}, {1}], dim: 1}}, 3]}}",
                             batch, length);
    if (w.chance(4)) { // in step 3
        pairs += fmt::format("{}, 3", w.chance(3) ? ", 1" : "");
        arguments += fmt::format(", dropout: {}, key: {}, counted: true", w.choose({"0.1", "0.5"}), w.choose(9));
    } else if (w.chance(4)) { // by a key that is computed
        pairs += fmt::format("{}, {{fold_in: [{{iota: [2], dtype: u32}}, {}]}}", w.chance(3) ? ", 1" : "", w.choose(9));
        arguments +=
            fmt::format(", dropout: {}{}", w.choose({"0.1", "0.5"}), w.chance(2) ? ", broadcast_dropout: true" : "");
    }
    w.emit(fmt::format("attention: [{}, {}, {}{}]{}", q.name, k.name, v.name, pairs, arguments), q.shape, dtype, false);
}

// A block that keeps the shape of its input, called once or repeated.
void module_call(CaseWriter& w) {
    const Known x = w.any([&w](const Known& value) {
        return value.dtype == w.floating("f32") && value.shape.size() >= 2 && value.shape.back() <= 16;
    });
    if (x.name.empty()) return unary_step(w);
    const std::string name = fmt::format("block{}", w.next_module++);
    const i64 width = x.shape.back();
    std::string body =
        fmt::format("  {}:\n    inputs: [x]\n    params:\n      w: {{shape: [{}, {}], mesh: {}{}}}\n    graph:\n", name,
                    width, width, random_spec(w, {width, width}), w.options.f64_only ? ", dtype: f64" : "");
    body += "      - h: {dot: [x, w]}\n";
    if (w.chance(2)) body += fmt::format("      - h: {{constrain: h, mesh: {}}}\n", random_spec(w, x.shape));
    body += w.options.integers_only ? "      - h: {clamp: h, min: -2, max: 2}\n" : "      - h: {tanh: h}\n";
    if (w.chance(2)) body += "      - h: {add: [x, h]}\n";
    if (w.chance(3))
        body += fmt::format("      - x: {{constrain: h, mesh: {}}}\n    outputs: [x]\n", random_spec(w, x.shape));
    else
        body += "    outputs: [h]\n";
    w.modules += body;
    w.tensors.push_back({name + ".w", {width, width}, "params", true});
    if (w.chance(2)) {
        w.tensors.back().name = name + ".*.w";
        w.emit_rounded(fmt::format("repeat: {}, times: {}, in: {}{}", name, 1 + w.choose(3), x.name,
                                   w.chance(3) ? ", scan: true" : ""),
                       x.shape, x.dtype, false);
    } else {
        w.emit_rounded(fmt::format("{}: {}", name, x.name), x.shape, x.dtype, false);
    }
}

// A loop that takes an entry of a value in each trip, carries what it makes of it, and may stack it.
void loop_over_value(CaseWriter& w) {
    const Known xs = w.any([&w](const Known& value) {
        return value.dtype == w.floating("f32") && value.shape.size() >= 2 && value.shape[0] <= 8;
    });
    if (xs.name.empty()) return unary_step(w);
    const std::vector<i64> shape(xs.shape.begin() + 1, xs.shape.end());
    Known begins;
    if (w.chance(2)) // with what others read too, or the model gives
        begins = w.any([&](const Known& value) { return value.dtype == xs.dtype && value.shape == shape; });
    if (begins.name.empty()) begins = w.tensor(shape, "f32");
    const std::string name = fmt::format("cell{}", w.next_module++),
                      bound = w.options.integers_only ? "{clamp: h, min: -2, max: 2}" : "{tanh: h}";
    const bool has_product = shape.size() >= 2 && shape.back() <= 16, stacks = w.chance(2), carries = !w.chance(4);
    std::string shared, inner;
    if (w.chance(4)) { // a loop in the loop, which begins with what the outer one may carry
        inner = fmt::format("cell{}", w.next_module++);
        w.modules += fmt::format("  {}:\n    inputs: [h]\n    graph:\n      - h: {}\n      - h: {{neg: h}}\n"
                                 "    outputs: [h]\n",
                                 inner, bound);
    }
    if (has_product && w.chance(2)) shared = w.tensor({shape.back(), shape.back()}, "f32").name;
    w.modules += fmt::format("  {}:\n    inputs: [{}{}x]\n", name, carries ? "h, " : "", shared.empty() ? "" : "u, ");
    if (has_product && shared.empty())
        w.modules +=
            fmt::format("    params:\n      u: {{shape: [{0}, {0}], mesh: {1}{2}}}\n", shape.back(),
                        random_spec(w, {shape.back(), shape.back()}), w.options.f64_only ? ", dtype: f64" : "");
    w.modules += fmt::format("    graph:\n      - h: {{add: [{}, x]}}\n", carries ? "h" : "x");
    if (has_product) w.modules += "      - h: {dot: [h, u]}\n";
    if (w.chance(3)) w.modules += fmt::format("      - h: {{constrain: h, mesh: {}}}\n", random_spec(w, shape));
    w.modules += fmt::format("      - h: {}\n", bound);
    if (!inner.empty()) w.modules += fmt::format("      - x: {{repeat: {}, times: 2, in: h, scan: true}}\n", inner);
    w.modules += inner.empty() || w.chance(2) ? "      - y: {add: [h, x]}\n" : "      - y: {neg: x}\n";
    w.modules += fmt::format("    outputs: [{}]\n", !carries ? "y" : stacks ? "h, y" : "h");
    std::vector<std::string> results, in;
    if (carries) results.push_back(fmt::format("v{}", w.next_value++)), in.push_back(begins.name);
    if (stacks || !carries) results.push_back(fmt::format("v{}", w.next_value++));
    if (!shared.empty()) in.push_back(shared);
    w.graph += fmt::format("  - {}: {{repeat: {}, in: [{}], over: {}{}, scan: true{}}}\n", fmt::join(results, ", "),
                           name, fmt::join(in, ", "), xs.name, stacks || !carries ? ", stack: y" : "",
                           w.chance(3) ? ", reverse: true" : "");
    const bool exact = xs.exact && w.options.integers_only;
    if (carries) w.values.push_back({results.front(), shape, xs.dtype, exact});
    if (stacks || !carries) w.values.push_back({results.back(), xs.shape, xs.dtype, exact});
}

} // namespace

const std::vector<CaseStep>& composite_steps() {
    static const std::vector<CaseStep> steps = {normalize, module_call, attention, loop_over_value};
    return steps;
}

} // namespace shard
