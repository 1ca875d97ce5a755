#include "tests/support/gradient_check.h"
#include "tests/support/model_harness.h"
#include "tests/support/op_harness.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

using Numbers = std::vector<double>;

// Of x = 1, 2, ... and w = 1, 10, 100, ..., each in one dim of a shape whose others are 1.
Numbers along(i64 count, i64 places, const std::string& arguments) {
    Built built = build_text(fmt::format(R"(model: m
inputs:
  x: {{shape: [1, {}, 1], dtype: f64}}
  w: {{shape: [{}, 1, 1], dtype: f64}}
graph:
  - y: {{conv: [x, w]{}}}
outputs: [y]
)",
                                         count, places, arguments));
    CHECK(built.problems() == "");
    REQUIRE(built.graph.has_value());
    Array x{{1, count, 1}, {}}, w{{places, 1, 1}, {}};
    double power = 1;
    for (i64 n = 1; n <= count; ++n) x.values.push_back(static_cast<double>(n));
    for (i64 k = 0; k < places; ++k, power *= 10) w.values.push_back(power);
    return interpret(*built.graph, {{"x", x}, {"w", w}}).at("y").values;
}

// Its result, and the gradients of a sum over it.
std::string trained(const std::string& x, const std::string& w, const std::string& arguments,
                    const std::string& dtype = "f32") {
    return fmt::format(R"(model: m
axes: {{batch: 8, height: 16, width: 8, in: 8, out: 8, group_in: 2}}
inputs:
  x: {{axes: {}, dtype: {}}}
  w: {{{}, dtype: {}}}
modules:
  loss:
    inputs: [x, w]
    graph:
      - y: {{conv: [x, w]{}}}
      - y: {{cast: y, dtype: f32}}
      - y: {{mul: [y, y]}}
      - l: {{reduce_sum: y}}
    outputs: [l]
graph:
  - y: {{conv: [x, w]{}}}
  - l, dx, dw: {{value_and_grad: loss, in: [x, w], wrt: [x, w]}}
outputs: [y, l, dx, dw]
)",
                       x, dtype, w, dtype, arguments, arguments);
}

std::string proved(const std::string& model, const std::string& layout, const ProofOptions& options = {}) {
    return fmt::format("{}", fmt::join(prove(model, layout, options), "\n"));
}

const TensorType x = f32({2, 8, 6, 4}), w = f32({3, 3, 4, 5});

} // namespace

TEST_CASE("a convolution sums over the window and over what both operands have, and splits over all else") {
    CHECK(rule_of("conv", {x, w}, {{"padding", std::string("same")}}) ==
          "([i, j, k, m],[n, o, m, l])->([i, j, k, l]) {i=2, j=8, k=6, l=5, m=4, n=3, o=3} reduction={m} "
          "need_replication={n, o} permutation={j, k}");
    // With a window of 1 the result's places are the operand's.
    CHECK(rule_of("conv", {x, f32({1, 1, 4, 5})}) ==
          "([i, j, k, m],[n, o, m, l])->([i, j, k, l]) {i=2, j=8, k=6, l=5, m=4, n=1, o=1} reduction={m} "
          "need_replication={n, o}");
    // Groups of 2 that make 3 each, in dims of which they are the outer part.
    CHECK(rule_of("conv", {x, f32({1, 1, 2, 6})}, {{"groups", i64{2}}}) ==
          "([j, k, l, in],[o, p, n, im])->([j, k, l, im]) {i=2, j=2, k=8, l=6, m=3, n=2, o=1, p=1} reduction={n} "
          "need_replication={o, p}");
    // A window as large as the operand: the gradient of a window, or a dense layer.
    CHECK(rule_of("conv", {f32({2, 8, 4}), f32({8, 4, 5})}) ==
          "([i, j, l],[j, l, k])->([i, m, k]) {i=2, j=8, k=5, l=4, m=1} reduction={j, l} need_replication={m}");
    CHECK(rule_of("conv", {f32({2, 10, 4}), f32({8, 4, 5})}) ==
          "([i, j, l],[j, l, k])->([i, m, k]) {i=2, j=8, k=5, l=4, m=3} reduction={j, l} need_replication={m}");
}

TEST_CASE("a convolution's shape follows from strides, padding, dilation, groups and the order of its dims") {
    CHECK(shape_of("conv", {x, w}) == "(2, 6, 4, 5)");
    CHECK(shape_of("conv", {x, w}, {{"padding", std::string("valid")}}) == "(2, 6, 4, 5)");
    CHECK(shape_of("conv", {x, w}, {{"padding", std::string("same")}}) == "(2, 8, 6, 5)");
    CHECK(shape_of("conv", {x, w}, {{"padding", std::string("same")}, {"strides", std::vector<i64>{3, 2}}}) ==
          "(2, 3, 3, 5)");
    CHECK(shape_of("conv", {x, w}, {{"low", std::vector<i64>{1, -1}}, {"high", std::vector<i64>{2}}}) ==
          "(2, 9, 5, 5)");
    CHECK(shape_of("conv", {x, w}, {{"dilation", std::vector<i64>{3, 2}}}) == "(2, 2, 2, 5)");
    CHECK(shape_of("conv", {x, w}, {{"input_dilation", std::vector<i64>{2, 1}}}) == "(2, 13, 4, 5)");
    CHECK(shape_of("conv", {x, f32({3, 3, 2, 6})}, {{"groups", i64{2}}}) == "(2, 6, 4, 6)");
    CHECK(shape_of("conv", {f32({2, 8, 4}), f32({3, 4, 5})}) == "(2, 6, 5)");
    CHECK(shape_of("conv", {f32({2, 8, 8, 8, 4}), f32({3, 2, 1, 4, 5})}) == "(2, 6, 7, 8, 5)");
    CHECK(shape_of("conv", {f32({2, 4, 8, 6}), f32({5, 4, 3, 2})}, {{"dims", std::string("nihw,oihw->nohw")}}) ==
          "(2, 5, 6, 5)");
    CHECK(shape_of("conv", {typed(DType::bf16, {2, 8, 4}), typed(DType::bf16, {3, 4, 5})}) == "bf16(2, 6, 5)");
    CHECK(shape_of("conv_transpose", {x, w}, {{"strides", std::vector<i64>{2}}, {"padding", std::string("same")}}) ==
          "(2, 16, 12, 5)");
    CHECK(shape_of("conv_transpose", {x, w}, {{"strides", std::vector<i64>{2}}}) == "(2, 17, 13, 5)");
    CHECK(shape_of("conv_transpose", {x, f32({1, 1, 4, 5})}, {{"strides", std::vector<i64>{3}}}) == "(2, 24, 18, 5)");
}

TEST_CASE("a convolution of dims, sizes or arguments that do not fit is refused") {
    CHECK(shape_of("conv", {x, f32({3, 3, 5, 5})}) ==
          "error E0223: the shapes of x0 (2, 8, 6, 4) and x1 (3, 3, 5, 5) do not fit for 'conv'");
    CHECK(shape_of("conv", {x, typed(DType::bf16, {3, 3, 4, 5})}) ==
          "error E0224: the operands of 'conv' have different element types: x0 is f32, x1 is bf16");
    CHECK(shape_of("conv", {typed(DType::i32, {2, 8, 4}), typed(DType::i32, {3, 4, 5})}) ==
          "error E0224: 'conv' needs a floating-point type, and x0 is i32");
    CHECK(shape_of("conv", {f32({2, 4}), f32({4, 5})}) ==
          "error E0226: the dims of 'conv': windows slide along 1 to 3 dims, between a first and a last one");
    const auto dims = [](const char* text) { return shape_of("conv", {x, w}, {{"dims", std::string(text)}}); };
    CHECK(dims("nhwi,hwio") == "error E0226: the dims of 'conv': it says no dims of two operands and a result");
    CHECK(dims("nhwi,hwio->nho") ==
          "error E0226: the dims of 'conv': 'w' and 'i' are both of both operands and not the "
          "result");
    CHECK(dims("nhwi,hwio->nhwp") == "error E0226: the dims of 'conv': letter 'o' is in one of the three alone");
    CHECK(dims("nhwi,hhio->nhwo") == "error E0226: the dims of 'conv': letter 'h' is twice in 'hhio'");
    CHECK(dims("nh2i,h2io->nh2o") ==
          "error E0226: the dims of 'conv': 'nh2i' may hold letters, and one dim of groups in parentheses");
    CHECK(dims("nwi,wio->nwo") == "error E0226: the dims of 'conv': nwi,wio->nwo names 3 and 3 dims, but the operands "
                                  "have 4 and 4");
    CHECK(dims("nhw(gi),hwi(go)->nhwo") == "error E0226: the dims of 'conv': groups are in all three or none, in dims "
                                           "along which no windows slide");
    CHECK(shape_of("conv", {x, w}, {{"groups", i64{0}}}) == "error E0226: `groups` of 'conv' is at least 1, not 0");
    CHECK(shape_of("conv", {x, w}, {{"groups", i64{3}}}) ==
          "error E0223: 'conv' has 3 groups, which do not divide dim 3 of x0 (2, 8, 6, 4)");
    CHECK(shape_of("conv", {x, w}, {{"strides", std::vector<i64>{1, 2, 3}}}) ==
          "error E0226: `strides` of 'conv' has 3 entries for windows along 2 dims");
    CHECK(shape_of("conv", {x, w}, {{"strides", std::vector<i64>{0}}}) ==
          "error E0226: `strides` of 'conv' is at least 1, not 0");
    CHECK(shape_of("conv", {x, w}, {{"padding", std::string("full")}}) ==
          "error E0226: `padding` of 'conv' is same or valid, not 'full'");
    CHECK(shape_of("conv", {x, w}, {{"padding", std::string("same")}, {"low", std::vector<i64>{1}}}) ==
          "error E0226: 'conv' has `padding` beside `low` or `high`");
    CHECK(shape_of("conv", {x, w}, {{"dilation", std::vector<i64>{4}}}) ==
          "error E0226: 'conv' has no place for a window of 9 on 8 elements with 0 before and 0 behind");
    CHECK(shape_of("conv_transpose", {x, w}, {{"padding", std::string("full")}}) ==
          "error E0226: `padding` of 'conv_transpose' is same or valid, not 'full'");
}

TEST_CASE("a convolution's numbers are sums of what windows meet") {
    CHECK(along(4, 3, "") == Numbers{321, 432});
    CHECK(along(4, 3, ", reverse: true") == Numbers{123, 234});
    CHECK(along(4, 3, ", padding: same") == Numbers{210, 321, 432, 43});
    CHECK(along(4, 2, ", padding: same") == Numbers{21, 32, 43, 4}); // what is left over is added behind
    CHECK(along(5, 3, ", padding: same, strides: 2") == Numbers{210, 432, 54});
    CHECK(along(4, 3, ", low: 2, high: -1") == Numbers{100, 210, 321});
    CHECK(along(5, 3, ", dilation: 2") == Numbers{531});
    CHECK(along(3, 3, ", input_dilation: 2") == Numbers{201, 20, 302}); // 1 0 2 0 3
    CHECK(along(5, 3, ", strides: 2") == Numbers{321, 543});
}

TEST_CASE("a transposed convolution spreads the windows") {
    const auto spread = [](i64 places, const std::string& arguments) {
        Built built = build_text(fmt::format(R"(model: m
inputs:
  x: {{shape: [1, 2, 1], dtype: f64}}
  w: {{shape: [{}, 1, 1], dtype: f64}}
graph:
  - y: {{conv_transpose: [x, w]{}}}
outputs: [y]
)",
                                             places, arguments));
        CHECK(built.problems() == "");
        REQUIRE(built.graph.has_value());
        Array w{{places, 1, 1}, {}};
        for (i64 k = 1; k <= places; ++k) w.values.push_back(static_cast<double>(k));
        return interpret(*built.graph, {{"x", {{1, 2, 1}, {1, 10}}}, {"w", w}}).at("y").values;
    };
    // As lax.conv_transpose, which does not reverse the window: of 1 and 10 with windows 1, 2, 3.
    CHECK(spread(3, ", strides: 2") == Numbers{3, 2, 31, 20, 10});
    CHECK(spread(3, ", strides: 2, padding: same") == Numbers{3, 2, 31, 20});
    CHECK(spread(2, ", strides: 3") == Numbers{2, 1, 0, 20, 10, 0});
    CHECK(spread(2, ", strides: 3, padding: same") == Numbers{2, 1, 0, 20, 10, 0});
    CHECK(spread(2, "") == Numbers{2, 21, 10});
    CHECK(spread(2, ", strides: 2, low: 0, high: 1") == Numbers{1, 20, 10});
}

TEST_CASE("gradients of convolutions agree with central differences") {
    for (const std::string op :
         {"conv: [s, s], dims: \"nwi,owi->nwo\", low: 2, high: 1",
          "conv: [s, s], dims: \"nwi,owi->nwo\", padding: same",
          "conv: [s, s], dims: \"nwi,owi->nwo\", padding: same, strides: 3",
          "conv: [s, s], dims: \"nwi,owi->nwo\", low: 5, high: 6, dilation: 3, strides: 2",
          "conv: [s, s], dims: \"wni,owi->own\", low: 1, high: 2, input_dilation: 2",
          "conv: [s, s], dims: \"nwi,owi->nwo\", low: 2, high: 1, reverse: true, input_dilation: 3, strides: 2",
          "conv: [s, s], dims: \"iwn,iwo->nwo\", low: -1, high: 6",
          "conv: [q, kv], dims: \"nhwi,ohwi->nhwo\", padding: same",
          "conv: [q, kv], dims: \"nhwi,ohwi->onwh\", padding: same, strides: [2, 1]",
          "conv: [q, kv], dims: \"nhw(gi),ihw(go)->nhw(go)\", groups: 4, padding: same",
          "conv: [q, q], dims: \"nhw(gi),whi(go)->nhw(go)\", groups: 2, low: 1, high: 1",
          "conv: [q, q], dims: \"nwh(gi),whi(go)->nhw(go)\", groups: 2, low: [0, 2], strides: [1, 2]",
          "conv_transpose: [s, s], dims: \"nwi,owi->nwo\", strides: 2"}) {
        CAPTURE(op);
        CHECK(gradient_problems(op) == std::vector<std::string>{});
    }
}

TEST_CASE("a convolution and its gradients are the same split over batch, channels and groups") {
    const std::string usual = trained("[batch, height, width, in]", "axes: [3, 3, in, out]", ", padding: same"),
                      grouped = trained("[batch, height, width, in]", "axes: [3, 3, group_in, out]",
                                        ", padding: same, groups: 4, strides: 2"),
                      channels_first = trained("[batch, in, height, width]", "axes: [out, in, 3, 3]",
                                               ", dims: \"nihw,oihw->nohw\", strides: 2, low: 1, high: 1");
    for (const std::string rules : {"[{batch: a}, {out: b}]", "[{batch: b}, {in: a}]", "[{in: a}, {out: b}]",
                                    "[{in: b}]", "[{batch: [a, b]}]", "[{out: [b, a]}]"})
        for (const std::string& model : {usual, grouped, channels_first}) {
            CAPTURE(rules);
            CHECK(proved(model, fmt::format("mesh: {{a: 2, b: 4}}\nrules: {}\n", rules)) == "");
        }
    CHECK(proved(trained("[batch, height, width, in]", "axes: [3, 3, in, out]", "", "bf16"),
                 "mesh: {a: 2, b: 2}\nrules: [{batch: a}, {out: b}]\n") == "");
    // A window for each channel.
    for (const std::string rules : {"[{batch: a}, {in: b}]", "[{in: [a, b]}]"})
        CHECK(proved(trained("[batch, height, width, in]", "axes: [3, 3, 1, in]", ", groups: 8, padding: same"),
                     fmt::format("mesh: {{a: 2, b: 2}}\nrules: {}\n", rules)) == "");
}

TEST_CASE("a convolution and its gradients are the same where windows reach from device to device") {
    for (const std::string arguments :
         {", padding: same", ", padding: same, strides: 2", ", low: 1, high: 1, dilation: 1",
          ", padding: same, dilation: 2", ", low: 2, high: 3, input_dilation: 2", ", padding: same, reverse: true",
          ", low: 0, high: 2"})
        for (const std::string rules :
             {"[{height: b}]", "[{height: a}, {width: b}]", "[{batch: a}, {height: b}]", "[{width: [a, b]}]"}) {
            CAPTURE(arguments);
            CAPTURE(rules);
            CHECK(proved(trained("[batch, height, width, in]", "axes: [3, 3, in, out]", arguments),
                         fmt::format("mesh: {{a: 2, b: 4}}\nrules: {}\n", rules)) == "");
        }
}

TEST_CASE("a convolution is differentiated twice") {
    CHECK(proved(R"(model: m
axes: {batch: 4, height: 8, in: 4, out: 4, kernel: 3}
inputs:
  x: {axes: [batch, height, in]}
  w: {axes: [kernel, in, out]}
modules:
  loss:
    inputs: [x, w]
    graph:
      - y: {conv: [x, w], padding: same, strides: 2}
      - y: {tanh: y}
      - l: {reduce_sum: y}
    outputs: [l]
  steepness:
    inputs: [x, w]
    graph:
      - l, g: {value_and_grad: loss, in: [x, w], wrt: [w]}
      - g: {mul: [g, g]}
      - s: {reduce_sum: g}
    outputs: [s]
graph:
  - s, dx, dw: {value_and_grad: steepness, in: [x, w], wrt: [x, w]}
outputs: [s, dx, dw]
)",
                 "mesh: {a: 2, b: 2}\nrules: [{batch: a}, {height: b}]\n") == "");
}

} // namespace shard
