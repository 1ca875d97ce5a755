// The gradient of every op and composite against central differences.
#include "tests/support/gradient_check.h"
#include "tests/support/model_harness.h"

#include <cmath>
#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

void check(const std::string& op) {
    CAPTURE(op);
    CHECK(gradient_problems(op) == std::vector<std::string>{});
}

// The gradient of sum(op) with respect to one input at given values.
std::vector<double> gradient_at(const std::string& op, Array x) {
    Built built = build_text(fmt::format("model: m\ninputs: {{x: {{shape: {}, dtype: f64}}}}\ngraph:\n  - y: {{{}}}\n"
                                         "  - z: {{reduce_sum: y}}\noutputs: [z]\n",
                                         "[" + std::to_string(x.shape[0]) + "]", op));
    INFO(built.problems());
    REQUIRE(built.graph.has_value());
    add_gradients(*built.graph);
    const std::map<std::string, Array> outputs = interpret(*built.graph, {{"x", x}});
    std::vector<double> gradient = outputs.at("grad.x").values;
    for (double& slope : gradient) slope = std::round(slope / 0.5403023058681398 * 1e9) / 1e9; // the weight cos(1)
    return gradient;
}

using Numbers = std::vector<double>;

} // namespace

TEST_CASE("gradients of ops on one operand agree with central differences") {
    for (const char* op : {"neg: x",
                           "abs: x",
                           "exp: x",
                           "expm1: x",
                           "tanh: x",
                           "logistic: x",
                           "erf: x",
                           "erfc: x",
                           "sin: x",
                           "cos: x",
                           "log: p",
                           "log1p: p",
                           "sqrt: p",
                           "rsqrt: p",
                           "cbrt: x",
                           "relu: x",
                           "sign: x",
                           "floor: x",
                           "ceil: x",
                           "round: x",
                           "clamp: x, min: -1, max: 0.5",
                           "clamp: x, min: 0.1",
                           "clamp: x, max: 0.1",
                           "cast: x, dtype: f32",
                           "square: x"})
        check(op);
}

TEST_CASE("gradients of ops on two operands agree, with what was broadcast summed back") {
    for (const char* op :
         {"add: [x, z]",   "sub: [x, z]",   "mul: [x, z]", "div: [x, p]",       "max: [x, z]",      "min: [x, z]",
          "pow: [p, z]",   "atan2: [x, p]", "rem: [x, p]", "mul: [x, x]",       "add: [x, x]",      "add: [b, x]",
          "sub: [c, b]",   "mul: [b, c]",   "div: [b, p]", "max: [b, c]",       "min: [c, x]",      "pow: [p, b]",
          "pow: [p, 2.0]", "rem: [c, p]",   "mul: [x, 3]", "select: [k, x, b]", "select: [k, 0, c]"})
        check(op);
}

TEST_CASE("gradients of contractions agree") {
    for (const char* op :
         {"dot: [x, w]", "dot: [b, w]", "dot: [x, b]", "dot: [b, b]", "einsum: \"ij,kj->ik\", in: [x, z]",
          "einsum: \"ijl,ij->il\", in: [s, x]", "einsum: \"ijl,ij->lji\", in: [s, x]",
          "einsum: \"i,j->ji\", in: [b, b]", "einsum: \"ij,jk,ij->k\", in: [x, w, z]", "einsum: \"ij->j\", in: x",
          "einsum: \"ijl,ij->\", in: [s, x]"})
        check(op);
}

TEST_CASE("gradients of reductions agree") {
    for (const char* op :
         {"reduce_sum: x", "reduce_sum: x, dims: [0]", "reduce_sum: s, dims: [0, 2], keepdims: true", "reduce_max: x",
          "reduce_max: s, dims: [1]", "reduce_min: s, dims: [0, 2]", "reduce_prod: x, dims: [1]", "reduce_prod: s",
          "mean: x", "mean: s, dims: [1], keepdims: true"})
        check(op);
}

TEST_CASE("gradients of moving ops agree") {
    for (const char* op :
         {"reshape: x, shape: [2, 6]", "transpose: s, permutation: [1, 2, 0]", "transpose: x",
          "broadcast: c, shape: [2, 3, 4]", "broadcast: b, shape: [4, 3], dims: [0]", "constrain: x, axes: [~, ~]",
          "concatenate: [x, z, x], dim: 1", "concatenate: [x, c], dim: 1", "slice: x, start: [1, 0], limit: [3, 3]",
          "slice: x, dim: 1, start: 1, limit: 4, stride: 2", "slice: x, dim: 1, start: 0, limit: 4, stride: 3",
          "slice: x, dim: 0, start: 2, limit: 3, stride: 2", "pad: x, low: [1, 0], high: [0, 2], value: 3",
          "pad: x, low: [2, 1], high: [1, 1], interior: [1, 2]", "pad: x, low: [-1, 1], high: [1, -2], value: 3",
          "pad: x, low: [0, -3], high: [-3, 0], interior: [1, 2]"})
        check(op);
}

TEST_CASE("gradients of lookups and their transpose agree, with indices beyond the ends and repeated ones") {
    for (const char* op : {"gather: [x, l]", "gather: [x, n], dim: 1", "gather: [s, l], dim: 2", "gather: [b, l]",
                           "scatter_add: [l, x], size: 2", "scatter_add: [n, s], dim: 2, size: 5",
                           "scatter_add: [x, l, x]", "scatter_add: [x, l, z]"})
        check(op);
}

TEST_CASE("gradients of windows agree, also where they begin beyond the ends") {
    for (const char* op : {"dynamic_slice: [x, at], dim: 1, size: 2", "dynamic_slice: [x, at, far], size: [2, 3]",
                           "dynamic_update_slice: [x, row, at], dim: 0", "dynamic_update_slice: [x, c, far], dim: 1",
                           "dynamic_update_slice: [x, z, at], dim: 1"})
        check(op);
}

TEST_CASE("the gradient of dropout has the mask of the values") {
    for (const char* op :
         {"dropout: x, rate: 0.25", "dropout: [x, at], rate: 0.25", "dropout: [s, at], rate: 0.5, key: 7"})
        check(op);
}

TEST_CASE("ops without a gradient are those whose derivative is zero or that have no floating-point operand") {
    std::vector<std::string_view> without;
    for (const OpDef* def : all_ops())
        if (def->gradient == nullptr) without.push_back(def->name);
    CHECK(without == std::vector<std::string_view>{"and",
                                                   "argsort",
                                                   "axis_index",
                                                   "axis_size",
                                                   "bernoulli",
                                                   "bit_and",
                                                   "bit_not",
                                                   "bit_or",
                                                   "bit_xor",
                                                   "bitcast",
                                                   "ceil",
                                                   "constant",
                                                   "eq",
                                                   "floor",
                                                   "fold_in",
                                                   "fold_in_word",
                                                   "ge",
                                                   "gt",
                                                   "iota",
                                                   "is_finite",
                                                   "le",
                                                   "lt",
                                                   "ne",
                                                   "normal",
                                                   "not",
                                                   "or",
                                                   "randint",
                                                   "random_bits",
                                                   "round",
                                                   "shift_left",
                                                   "shift_right",
                                                   "sign",
                                                   "stop_gradient",
                                                   "trunc_div",
                                                   "truncated_normal",
                                                   "uniform"});
}

TEST_CASE("gradients of composites agree") {
    for (const char* op : {"gelu: x",
                           "gelu: x, approximate: false",
                           "silu: x",
                           "softplus: x",
                           "logaddexp: [x, z]",
                           "softmax: x",
                           "softmax: x, dim: 0",
                           "softmax: s, dim: [2, 0]",
                           "log_softmax: s, dim: [0, 1, 2]",
                           "layer_norm: s, dim: [0, 2]",
                           "rms_norm: [s, s], dim: [1, 0, 2]",
                           "log_softmax: x",
                           "log_softmax: x, dim: 0",
                           "logsumexp: x",
                           "logsumexp: s, dims: [0, 2]",
                           "logsumexp: x, dims: [1], keepdims: true",
                           "layer_norm: x",
                           "layer_norm: [x, b, b]",
                           "layer_norm: s, dim: 1",
                           "layer_norm: [s, b], dim: 1",
                           "rms_norm: x",
                           "rms_norm: [x, b]",
                           "rms_norm: s, dim: 0",
                           "linear: [x, w]",
                           "mse: [x, z]",
                           "softmax_cross_entropy: [x, label]",
                           "softmax_cross_entropy: [x, label], per_position: true",
                           "global_norm: [x, b]",
                           "rope: q",
                           "attention: [q, kv, kv]",
                           "attention: [q, q, q], causal: true"})
        check(op);
    check("softmax: x}\n  - t: {mul: [y, y.softmax.exp]}\n  - y: {add: [t, y]"); // a step is read from outside
}

TEST_CASE("at ties the operands of max share, and relu has 0, as in JAX") {
    CHECK(gradient_at("max: [x, 0]", {{3}, {-1, 0, 1}}) == Numbers{0, 0.5, 1});
    CHECK(gradient_at("min: [x, 0]", {{3}, {-1, 0, 1}}) == Numbers{1, 0.5, 0});
    CHECK(gradient_at("relu: x", {{3}, {-1, 0, 1}}) == Numbers{0, 0, 1});
    CHECK(gradient_at("abs: x", {{3}, {-1, 0, 1}}) == Numbers{-1, 0, 1});
    CHECK(gradient_at("softplus: x", {{3}, {-800, 0, 800}}) == Numbers{0, 0.5, 1});
    CHECK(gradient_at("logaddexp: [x, 0]", {{3}, {-800, 0, 800}}) == Numbers{0, 0.5, 1});
    CHECK(gradient_at("clamp: x, min: 0, max: 1", {{3}, {0, 0.5, 1}}) == Numbers{0, 1, 0});
    CHECK(gradient_at("reduce_max: x", {{6}, {2, 1, 2, 2, 0, 2}}) == Numbers{0.25, 0, 0.25, 0.25, 0, 0.25});
    CHECK(gradient_at("reduce_min: x", {{4}, {2, 1, 2, 1}}) == Numbers{0, 0.5, 0, 0.5});
}

TEST_CASE("a product with zeros has the gradient of the elements that are left") {
    CHECK(gradient_at("reduce_prod: x", {{3}, {2, 3, 4}}) == Numbers{12, 8, 6});
    CHECK(gradient_at("reduce_prod: x", {{3}, {2, 0, 4}}) == Numbers{0, 8, 0});
    CHECK(gradient_at("reduce_prod: x", {{3}, {0, 0, 4}}) == Numbers{0, 0, 0});
}

TEST_CASE("x to the power of 0, and 0 to a power, have finite gradients") {
    CHECK(gradient_at("pow: [x, 0]", {{2}, {0, 2}}) == Numbers{0, 0});
    CHECK(gradient_at("pow: [x, 3]", {{2}, {0, 2}}) == Numbers{0, 12});
    CHECK(gradient_at("pow: [0, x]", {{1}, {2}}) == Numbers{0});
}

} // namespace shard
