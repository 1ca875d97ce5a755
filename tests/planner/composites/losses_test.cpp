// Losses, metrics and schedules by their formulas, through the interpreter.
#include "tests/support/interpreter.h"
#include "tests/support/model_harness.h"

#include <doctest/doctest.h>

#include <cmath>

namespace shard {

namespace {

using Numbers = std::vector<double>;

std::map<std::string, Array> run(const std::string& inputs, const std::string& entry, const std::string& outputs,
                                 const std::map<std::string, Array>& values) {
    const Built built =
        build_text("model: m\ninputs: " + inputs + "\ngraph:\n  - " + entry + "\noutputs: [" + outputs + "]\n");
    CAPTURE(built.problems());
    REQUIRE(built.graph.has_value());
    return interpret(*built.graph, values);
}

std::string problem(const std::string& inputs, const std::string& entry) {
    const Built built = build_text("model: m\ninputs: " + inputs + "\ngraph:\n  - y: " + entry + "\noutputs: [y]\n");
    CHECK(!built.graph.has_value());
    return built.problems();
}

const std::string classes = "{x: {shape: [2, 4]}, t: {shape: [2], dtype: i32}}";
const std::map<std::string, Array> two_positions = {{"x", {{2, 4}, {1, 2, 3, 0, 0, -1, 4, 4}}}, {"t", {{2}, {2, 3}}}};

} // namespace

TEST_CASE("mse is the mean of squared differences") {
    const std::string inputs = "{z: {shape: [2, 2]}, t: {shape: [2, 2]}}";
    const std::map<std::string, Array> values = {{"z", {{2, 2}, {1, 2, 3, 4}}}, {"t", {{2, 2}, {0, 4, 3, 1}}}};
    CHECK(run(inputs, "y: {mse: [z, t]}", "y", values).at("y").values == Numbers{(1 + 4 + 0 + 9) / 4.0});
    CHECK(
        problem("{z: {shape: [2, 2]}, t: {shape: [2]}}", "{mse: [z, t]}") ==
        "E0223 4: 'mse' compares a value of shape (2, 2) with a target of shape (2,) | both need one shape: reshape or "
        "broadcast one of them");
}

TEST_CASE("softmax_cross_entropy is -log softmax at the label, its mean, or one number a position") {
    // As optax.softmax_cross_entropy_with_integer_labels has it: 0.4401896 and 0.70559597.
    const double first = std::log(std::exp(-2.0) + std::exp(-1.0) + 1 + std::exp(-3.0));
    const double second = std::log(std::exp(-4.0) + std::exp(-5.0) + 2);
    const Array each =
        run(classes, "y: {softmax_cross_entropy: [x, t], per_position: true}", "y", two_positions).at("y");
    REQUIRE(each.shape == Shape{2});
    CHECK(each.values[0] == doctest::Approx(first).epsilon(1e-12));
    CHECK(each.values[1] == doctest::Approx(second).epsilon(1e-12));
    const Array mean = run(classes, "y: {softmax_cross_entropy: [x, t]}", "y", two_positions).at("y");
    CHECK(mean.values[0] == doctest::Approx((first + second) / 2).epsilon(1e-12));
    CHECK(problem("{x: {shape: [2, 4]}, t: {shape: [2]}}", "{softmax_cross_entropy: [x, t]}") ==
          "E0224 4: the labels of 'softmax_cross_entropy' are the numbers of classes, and they are f32 | declare them "
          "with dtype: i32");
    CHECK(
        problem("{x: {shape: [2, 4]}, t: {shape: [4], dtype: i32}}", "{softmax_cross_entropy: [x, t]}") ==
        "E0223 4: 'softmax_cross_entropy' has logits of shape (2, 4) and labels of shape (4,) | labels have the shape "
        "of the logits without the classes, (2,)");
}

TEST_CASE("argmax is the first of the largest, accuracy counts where it is the label") {
    CHECK(run("{x: {shape: [2, 4]}}", "y: {argmax: x}", "y", {{"x", two_positions.at("x")}}).at("y").values ==
          Numbers{2, 2});
    // NaN is larger than all others, as in JAX.
    const double nan = std::nan("");
    CHECK(run("{x: {shape: [3, 2]}}", "y: {argmax: x}", "y", {{"x", {{3, 2}, {1, 0, nan, nan, 1, nan}}}})
              .at("y")
              .values == Numbers{0, 0, 1});
    const std::map<std::string, Array> made =
        run(classes, "right, all: {accuracy: [x, t]}", "right, all", two_positions);
    CHECK(made.at("right").values == Numbers{1});
    CHECK(made.at("all").values == Numbers{2});
}

TEST_CASE("values are clipped by their norm together, and stay as they are below it") {
    const std::string inputs = "{a: {shape: [2]}, b: {shape: []}}";
    const std::map<std::string, Array> values = {{"a", {{2}, {3, 0}}}, {"b", {{}, {4}}}};
    CHECK(run(inputs, "y: {global_norm: [a, b]}", "y", values).at("y").values == Numbers{5});
    const std::map<std::string, Array> clipped =
        run(inputs, "c, d: {clip_by_global_norm: [a, b], max_norm: 1.0}", "c, d", values);
    CHECK(clipped.at("c").values == Numbers{0.6, 0});
    CHECK(clipped.at("d").values == Numbers{0.8});
    CHECK(run(inputs, "c, d: {clip_by_global_norm: [a, b], max_norm: 6.0}", "c, d", values).at("c").values ==
          Numbers{3, 0});
}

// optax.warmup_cosine_decay_schedule(0.1, 1.0, 4, 12, 0.05) at 0 to 13.
TEST_CASE("warmup_cosine rises in a line and falls along half a cosine") {
    const Numbers expected = {0.1,         0.325, 0.55,       0.775,       1.0,          0.96384275, 0.860875726,
                              0.706774592, 0.525, 0.34322533, 0.189124286, 0.0861571804, 0.05,       0.05};
    for (size_t count = 0; count < expected.size(); ++count) {
        const Array rate =
            run("{n: {shape: [], dtype: i32}}",
                "y: {warmup_cosine: n, start: 0.1, peak: 1.0, warmup_steps: 4, decay_steps: 12, end: 0.05}", "y",
                {{"n", {{}, {static_cast<double>(count)}}}})
                .at("y");
        CAPTURE(count);
        CHECK(rate.values[0] == doctest::Approx(expected[count]).epsilon(1e-6));
    }
    CHECK(
        problem("{n: {shape: [], dtype: i32}}", "{warmup_cosine: n, peak: 1.0, warmup_steps: 4, decay_steps: 4}") ==
        "E0226 4: 'warmup_cosine' warms up for 4 of 4 steps | `decay_steps` counts all steps, the warmup included, so "
        "it must be more than `warmup_steps`");
    CHECK(problem("{n: {shape: []}}", "{warmup_cosine: n, peak: 1.0, decay_steps: 4}") ==
          "E0224 4: 'warmup_cosine' follows a count, a whole number, and its operand is f32 () | a count is one number "
          "of type i32, say: {shape: [], dtype: i32}");
    CHECK(problem("{n: {shape: [], dtype: i32}}", "{warmup_cosine: n, peak: 1.0, decay_steps: 2147483648}") ==
          "E0226 4: 'warmup_cosine' takes 2147483648 steps, more than its count of type i32 can tell | write fewer "
          "`decay_steps`");
    CHECK(build_text("model: m\ninputs: {n: {shape: [], dtype: i32}}\ngraph: [{y: {warmup_cosine: n, peak: 1.0, "
                     "decay_steps: 2147483647}}]\noutputs: [y]\n")
              .problems() == "");
}

// optax.join_schedules([linear_schedule(0.1, 1.0, 4), linear_schedule(1.0, 0.05, 8)], [4]): in step n of 8 after the
// peak (1 - n / 8) (1.0 - 0.05) + 0.05.
TEST_CASE("warmup_linear rises in a line and falls in a line") {
    const Numbers expected = {0.1,     0.325, 0.55,    0.775,  1.0,     0.88125, 0.7625,
                              0.64375, 0.525, 0.40625, 0.2875, 0.16875, 0.05,    0.05};
    const auto rate_at = [](size_t count, const std::string& more) {
        return run("{n: {shape: [], dtype: i32}}", "y: {warmup_linear: n, peak: 1.0, " + more + "}", "y",
                   {{"n", {{}, {static_cast<double>(count)}}}})
            .at("y")
            .values[0];
    };
    for (size_t count = 0; count < expected.size(); ++count) {
        CAPTURE(count);
        CHECK(rate_at(count, "start: 0.1, warmup_steps: 4, decay_steps: 12, end: 0.05") ==
              doctest::Approx(expected[count]).epsilon(1e-6));
    }
    CHECK(rate_at(0, "decay_steps: 4") == 1); // without a warmup, from the first step on
    CHECK(rate_at(3, "decay_steps: 4") == 0.25);
    CHECK(
        problem("{n: {shape: [], dtype: i32}}", "{warmup_linear: n, peak: 1.0, warmup_steps: 4, decay_steps: 4}") ==
        "E0226 4: 'warmup_linear' warms up for 4 of 4 steps | `decay_steps` counts all steps, the warmup included, so "
        "it must be more than `warmup_steps`");
}

// One update of one number by paper: count 0, g 2, mu 1, nu 4.
TEST_CASE("the optimizers' formulas") {
    const std::string inputs =
        "{p: {shape: [1]}, g: {shape: [1]}, m: {shape: [1]}, v: {shape: [1]}, n: {shape: [], dtype: i32}}";
    const std::map<std::string, Array> values = {
        {"p", {{1}, {10}}}, {"g", {{1}, {2}}}, {"m", {{1}, {1}}}, {"v", {{1}, {4}}}, {"n", {{}, {0}}}};
    const double mu = 0.1 * 2 + 0.9 * 1, nu = 0.001 * 4 + 0.999 * 4;
    const double direction = (mu / 0.1) / (std::sqrt(nu / 0.001) + 1e-8);
    const auto near = [](const Array& array, double expected) {
        CHECK(array.values[0] == doctest::Approx(expected).epsilon(1e-6));
    };
    std::map<std::string, Array> made =
        run(inputs, "a, b, c: {adam: [p, g, m, v, n], learning_rate: 0.5}", "a, b, c", values);
    near(made.at("a"), 10 - 0.5 * direction);
    near(made.at("b"), mu);
    near(made.at("c"), nu);
    made = run(inputs, "a, b, c: {adamw: [p, g, m, v, n], learning_rate: 0.5, weight_decay: 0.1}", "a", values);
    near(made.at("a"), 10 - 0.5 * (direction + 0.1 * 10));
    made = run(inputs, "a: {sgd: [p, g], learning_rate: 0.5}", "a", values);
    near(made.at("a"), 9);
    made = run(inputs, "a, b: {sgd: [p, g, m], learning_rate: 0.5, momentum: 0.9}", "a, b", values);
    near(made.at("a"), 10 - 0.5 * (2 + 0.9 * 1));
    near(made.at("b"), 2.9);
    made = run(inputs, "a, b: {sgd: [p, g, m], learning_rate: 0.5, momentum: 0.9, nesterov: true}", "a, b", values);
    near(made.at("a"), 10 - 0.5 * (2 + 0.9 * 2.9));
    CHECK(problem(inputs, "{sgd: [p, g, m], learning_rate: 0.5}")
              .starts_with("E0221 4: 'sgd' takes 2 operands here, but 3 are given"));
    CHECK(problem("{p: {shape: [2]}, g: {shape: [1]}}", "{sgd: [p, g], learning_rate: 0.5}") ==
          "E0223 4: 'sgd' updates a parameter f32 (2,) with a value f32 (1,)");
}

} // namespace shard
