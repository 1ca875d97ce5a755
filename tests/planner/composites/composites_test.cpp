// Composites by what they compute: the graph that a composite becomes is run by the interpreter and compared with the
// plain formula.
#include "tests/support/interpreter.h"
#include "tests/support/model_harness.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

namespace shard {

namespace {

using Numbers = std::vector<double>;

// Output y of a model whose inputs are declared as `inputs` and whose graph is the one entry `entry`.
Array run(const std::string& inputs, const std::string& entry, const std::map<std::string, Array>& values) {
    const Built built = build_text("model: m\ninputs: " + inputs + "\ngraph:\n  - y: " + entry + "\noutputs: [y]\n");
    CAPTURE(built.problems());
    REQUIRE(built.graph.has_value());
    return interpret(*built.graph, values).at("y");
}

void check_near(const Array& array, const Shape& shape, const Numbers& expected) {
    CHECK(array.shape == shape);
    REQUIRE(array.values.size() == expected.size());
    for (size_t n = 0; n < expected.size(); ++n) CHECK(array.values[n] == doctest::Approx(expected[n]).epsilon(1e-9));
}

// Numbers without a pattern, from -1 to 1.
Numbers some(i64 count, double phase) {
    Numbers numbers;
    for (i64 n = 0; n < count; ++n) numbers.push_back(std::sin(1.7 * static_cast<double>(n) + phase));
    return numbers;
}

const std::string row = "{x: {shape: [1, 3]}}";
const std::map<std::string, Array> row_values = {{"x", {{1, 3}, {1, 2, 4}}}};

} // namespace

TEST_CASE("softmax and its logs agree with their formulas, and do not overflow") {
    const double sum = std::exp(1.0) + std::exp(2.0) + std::exp(4.0);
    check_near(run(row, "{softmax: x}", row_values), {1, 3},
               {std::exp(1.0) / sum, std::exp(2.0) / sum, std::exp(4.0) / sum});
    check_near(run(row, "{log_softmax: x}", row_values), {1, 3},
               {1 - std::log(sum), 2 - std::log(sum), 4 - std::log(sum)});
    check_near(run(row, "{logsumexp: x, dims: [1]}", row_values), {1}, {std::log(sum)});
    check_near(run(row, "{logsumexp: x, keepdims: true}", row_values), {1, 1}, {std::log(sum)});
    const std::map<std::string, Array> large = {{"x", {{1, 3}, {1000, 1000, 1000}}}};
    check_near(run(row, "{softmax: x}", large), {1, 3}, {1 / 3.0, 1 / 3.0, 1 / 3.0});
    check_near(run(row, "{logsumexp: x}", large), {}, {1000 + std::log(3.0)});
    const std::map<std::string, Array> nothing = {{"x", {{1, 3}, {-INFINITY, -INFINITY, -INFINITY}}}};
    CHECK(run(row, "{logsumexp: x}", nothing).values[0] == -INFINITY);
}

TEST_CASE("the norms: mean 0 and variance 1, or mean square 1, times scale, plus bias") {
    const std::string inputs = "{x: {shape: [1, 3]}, s: {shape: [3]}, b: {shape: [3]}}";
    const std::map<std::string, Array> values = {
        {"x", {{1, 3}, {1, 2, 6}}}, {"s", {{3}, {1, 2, 3}}}, {"b", {{3}, {10, 20, 30}}}};
    const double deviation = std::sqrt((4 + 1 + 9) / 3.0 + 0.25); // mean 3
    check_near(run(inputs, "{layer_norm: [x, s, b], eps: 0.25}", values), {1, 3},
               {-2 / deviation + 10, 2 * -1 / deviation + 20, 3 * 3 / deviation + 30});
    const double root = std::sqrt((1 + 4 + 36) / 3.0 + 0.25);
    check_near(run(inputs, "{rms_norm: [x, s], eps: 0.25}", values), {1, 3}, {1 / root, 2 * 2 / root, 3 * 6 / root});
    const std::string down = "{x: {shape: [2, 2]}, s: {shape: [2]}}";
    const std::map<std::string, Array> columns = {{"x", {{2, 2}, {3, 1, 4, 1}}}, {"s", {{2}, {1, 2}}}};
    const double left = std::sqrt(12.5), right = 1;
    check_near(run(down, "{rms_norm: [x, s], eps: 0, dim: 0}", columns), {2, 2},
               {3 / left, 1 / right, 2 * 4 / left, 2 * 1 / right});
    // A dim in the middle.
    check_near(run("{x: {shape: [1, 2, 2]}, s: {shape: [2]}}", "{rms_norm: [x, s], eps: 0, dim: 1}",
                   {{"x", {{1, 2, 2}, {3, 1, 4, 1}}}, {"s", {{2}, {1, 2}}}}),
               {1, 2, 2}, {3 / left, 1 / right, 2 * 4 / left, 2 * 1 / right});
}

TEST_CASE("softmax and the norms work over several dims at once, in any order, and over none") {
    const std::string both = "{x: {shape: [2, 1, 2]}, s: {shape: [2, 2]}, b: {shape: []}}";
    const std::map<std::string, Array> values = {
        {"x", {{2, 1, 2}, {1, 2, 4, 5}}}, {"s", {{2, 2}, {1, 2, 3, 4}}}, {"b", {{}, {7}}}};
    const double sum = std::exp(1.0) + std::exp(2.0) + std::exp(4.0) + std::exp(5.0);
    Numbers shares, logs, scaled;
    const double root = std::sqrt((1 + 4 + 16 + 25) / 4.0 + 0.25);
    for (double x : {1.0, 2.0, 4.0, 5.0}) {
        shares.push_back(std::exp(x) / sum);
        logs.push_back(x - std::log(sum));
        scaled.push_back(x / root * static_cast<double>(scaled.size() + 1));
    }
    check_near(run(both, "{softmax: x, dim: [2, 0]}", values), {2, 1, 2}, shares);
    check_near(run(both, "{log_softmax: x, dim: [0, 1, 2]}", values), {2, 1, 2}, logs);
    check_near(run(both, "{rms_norm: [x, s], dim: [2, 0], eps: 0.25}", values), {2, 1, 2}, scaled);
    const double deviation = std::sqrt((4 + 1 + 1 + 4) / 4.0 + 0.25); // mean 3
    check_near(run(both, "{layer_norm: [x, s], dim: [0, 2], eps: 0.25}", values), {2, 1, 2},
               {-2 / deviation, 2 * -1 / deviation, 3 * 1 / deviation, 4 * 2 / deviation});
    // Each element is a group of its own: its share is 1, and it is its own mean.
    check_near(run(both, "{softmax: x, dim: []}", values), {2, 1, 2}, {1, 1, 1, 1});
    check_near(run(both, "{log_softmax: x, dim: []}", values), {2, 1, 2}, {0, 0, 0, 0});
    check_near(run(both, "{layer_norm: [x, b, b], dim: []}", values), {2, 1, 2}, {7, 7, 7, 7});
}

TEST_CASE("the activations") {
    const std::map<std::string, Array> values = {{"x", {{1, 3}, {-1, 0, 2}}}};
    check_near(run(row, "{relu: x}", values), {1, 3}, {0, 0, 2});
    check_near(run(row, "{square: x}", values), {1, 3}, {1, 0, 4});
    check_near(run(row, "{silu: x}", values), {1, 3}, {-1 / (1 + std::exp(1.0)), 0, 2 / (1 + std::exp(-2.0))});
    const auto exact = [](double x) { return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0))); };
    check_near(run(row, "{gelu: x, approximate: false}", values), {1, 3}, {exact(-1), 0, exact(2)});
    const auto by_tanh = [](double x) {
        return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    };
    check_near(run(row, "{gelu: x}", values), {1, 3}, {by_tanh(-1), 0, by_tanh(2)});
    check_near(run(row, "{mean: x, dims: [1]}", values), {1}, {1 / 3.0});
    const auto softplus = [](double x) { return std::log1p(std::exp(x)); };
    check_near(run(row, "{softplus: x}", values), {1, 3}, {softplus(-1), softplus(0), softplus(2)});
    check_near(run(row, "{logaddexp: [x, 1]}", values), {1, 3}, {1 + softplus(-2), 1 + softplus(-1), 1 + softplus(1)});
    // Neither end overflows, and two infinities that are one are that infinity.
    const double infinity = std::numeric_limits<double>::infinity();
    const std::map<std::string, Array> large = {{"x", {{1, 3}, {-200, 200, 0}}}};
    check_near(run(row, "{softplus: x}", large), {1, 3}, {std::exp(-200.0), 200, std::log(2.0)});
    CHECK(run(row, "{logaddexp: [x, -.inf]}", large).values == std::vector<double>{-200, 200, 0});
    const std::map<std::string, Array> ends = {{"x", {{1, 3}, {-infinity, infinity, 1}}}};
    CHECK(run(row, "{logaddexp: [x, x]}", ends).values[0] == -infinity);
    CHECK(run(row, "{logaddexp: [x, x]}", ends).values[1] == infinity);
    CHECK(run(row, "{softplus: x}", ends).values[0] == 0);
}

TEST_CASE("causal attention with grouped heads: every query head reads the key head of its group, and no later key") {
    constexpr i64 batch = 2, length = 3, heads = 4, kv_heads = 2, width = 2;
    const Array q{{batch, length, heads, width}, some(batch * length * heads * width, 0)};
    const Array k{{batch, length, kv_heads, width}, some(batch * length * kv_heads * width, 1)};
    const Array v{{batch, length, kv_heads, width}, some(batch * length * kv_heads * width, 2)};
    const auto at = [](const Array& a, i64 b, i64 l, i64 h, i64 d) {
        return a.values[((b * a.shape[1] + l) * a.shape[2] + h) * a.shape[3] + d];
    };
    Numbers expected;
    for (i64 b = 0; b < batch; ++b)
        for (i64 l = 0; l < length; ++l)
            for (i64 h = 0; h < heads; ++h) {
                const i64 group = h / (heads / kv_heads);
                Numbers weights;
                double sum = 0;
                for (i64 m = 0; m <= l; ++m) {
                    double score = 0;
                    for (i64 d = 0; d < width; ++d) score += at(q, b, l, h, d) * at(k, b, m, group, d);
                    weights.push_back(std::exp(score / std::sqrt(2.0)));
                    sum += weights.back();
                }
                for (i64 d = 0; d < width; ++d) {
                    double value = 0;
                    for (i64 m = 0; m <= l; ++m) value += weights[m] / sum * at(v, b, m, group, d);
                    expected.push_back(value);
                }
            }
    const std::string inputs = "{q: {shape: [2, 3, 4, 2]}, k: {shape: [2, 3, 2, 2]}, v: {shape: [2, 3, 2, 2]}}";
    check_near(run(inputs, "{attention: [q, k, v], causal: true}", {{"q", q}, {"k", k}, {"v", v}}), q.shape, expected);
}

TEST_CASE("rope turns the pairs (i, i + width/2) by position times theta^(-2i/width)") {
    const Array x{{1, 3, 2, 4}, some(24, 0)};
    Numbers expected;
    for (size_t l = 0; l < 3; ++l)
        for (size_t h = 0; h < 2; ++h)
            for (size_t d = 0; d < 4; ++d) {
                const size_t base = (l * 2 + h) * 4, i = d % 2;
                const double angle = static_cast<double>(l) * std::pow(100.0, -2.0 * static_cast<double>(i) / 4);
                const double a = x.values[base + i], b = x.values[base + i + 2];
                expected.push_back(d < 2 ? a * std::cos(angle) - b * std::sin(angle)
                                         : b * std::cos(angle) + a * std::sin(angle));
            }
    check_near(run("{x: {shape: [1, 3, 2, 4]}}", "{rope: x, theta: 100}", {{"x", x}}), x.shape, expected);
    const std::map<std::string, Array> with_positions = {{"x", x}, {"p", {{1, 3}, {0, 1, 2}}}};
    check_near(
        run("{x: {shape: [1, 3, 2, 4]}, p: {shape: [1, 3], dtype: i32}}", "{rope: [x, p], theta: 100}", with_positions),
        x.shape, expected);
}

TEST_CASE("einsum in all its forms agrees with numpy's meaning") {
    const std::string inputs = "{x: {shape: [2, 2]}, z: {shape: [2, 2]}}";
    const std::map<std::string, Array> values = {{"x", {{2, 2}, {1, 2, 3, 4}}}, {"z", {{2, 2}, {5, 6, 7, 8}}}};
    const std::string only_x = "{x: {shape: [2, 2]}}";
    check_near(run(only_x, "{einsum: \"ii->\", in: x}", values), {}, {5});
    check_near(run(only_x, "{einsum: \"ii->i\", in: x}", values), {2}, {1, 4});
    check_near(run(only_x, "{einsum: \"ij->ji\", in: x}", values), {2, 2}, {1, 3, 2, 4});
    check_near(run(inputs, "{einsum: \"ij,kj->k\", in: [x, z]}", values), {2}, {4 * 5 + 6 * 6, 4 * 7 + 6 * 8});
    check_near(run(inputs, "{einsum: \"ij,jk,kl->il\", in: [x, z, x]}", values), {2, 2},
               {19 + 66, 38 + 88, 43 + 150, 86 + 200});
    check_near(run(inputs, "{einsum: \"...i,...i->...\", in: [x, z]}", values), {2}, {17, 53});
}

TEST_CASE("composites refuse shapes and types that they cannot take") {
    const auto problem = [](const std::string& inputs, const std::string& entry) {
        const Built built =
            build_text("model: m\ninputs: " + inputs + "\ngraph:\n  - y: " + entry + "\noutputs: [y]\n");
        CHECK(!built.graph.has_value());
        return built.problems();
    };
    CHECK(problem("{x: {shape: [4], dtype: i32}}", "{softmax: x}") ==
          "E0224 4: 'softmax' needs a floating-point type, and its operand is i32 | convert it first: {cast: x, dtype: "
          "f32}");
    // What is refused has no type, so what reads it is not judged.
    for (const char* op : {"reduce_and", "reduce_or"})
        CHECK(problem("{x: {shape: [4], dtype: i32}}", fmt::format("{{exp: {{{}: x}}}}", op)) ==
              fmt::format("E0224 4: '{}' needs a bool, and its operand is i32 | compare it first: {{ne: [x, 0]}}", op));
    for (const char* op : {"softmax", "log_softmax", "argmax"}) {
        const std::string none = problem("{x: {shape: []}}", fmt::format("{{{}: x}}", op));
        CHECK(none.starts_with(fmt::format("E0223 4: '{}' needs at least 1 dims, and its operand has shape ()", op)));
        CHECK(none.find("\nE") == std::string::npos); // and nothing else is said
    }
    CHECK(problem("{x: {shape: [2, 4]}, s: {shape: [2]}}", "{rms_norm: [x, s]}") ==
          "E0223 4: 'rms_norm' scales dim 1 of (2, 4), of size 4, with a value of shape (2,) | scale and bias have the "
          "shape (4,)");
    CHECK(problem("{q: {shape: [1, 2, 3, 4]}, k: {shape: [1, 2, 2, 4]}}", "{attention: [q, k, k]}") ==
          "E0223 4: 'attention' cannot combine q (1, 2, 3, 4), k (1, 2, 2, 4) and v (1, 2, 2, 4) | batch and head_dim "
          "must be equal, and heads a "
          "multiple of kv_heads");
    CHECK(problem("{x: {shape: [1, 2, 3, 5]}}", "{rope: x}") ==
          "E0223 4: 'rope' cannot rotate a value of shape (1, 2, 3, 5) | it takes (batch, length, heads, head_dim) "
          "with an even head_dim, and "
          "positions of shape (length,) or (batch, length)");
    for (const char* shapes : {"x: {shape: [1, 2, 3, 5]}, p: {shape: [2], dtype: i32}",
                               "x: {shape: [1, 2, 3, 4]}, p: {shape: [3], dtype: i32}"})
        CHECK(problem(fmt::format("{{{}}}", shapes), "{rope: [x, p]}").starts_with("E0223 4: 'rope' cannot rotate"));
}

} // namespace shard
