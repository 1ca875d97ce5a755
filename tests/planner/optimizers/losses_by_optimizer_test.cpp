// Losses of the guide's model under every optimizer. The series were printed by JAX 0.10.2 and optax 0.2.8 (float32,
// legacy random bits, highest matmul precision) from the same keys.
#include "tests/support/steps.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

std::string with_training(const std::string& training) {
    const std::string model = example("nnx_guide/model.yaml");
    const std::string optimizer = "  optimizer: {adam: {learning_rate: 1.0e-3}}\n";
    const size_t at = model.find(optimizer);
    REQUIRE(at != std::string::npos);
    return model.substr(0, at) + training + model.substr(at + optimizer.size());
}

void check_series(const Numbers& got, const Numbers& want, double relative) {
    REQUIRE(got.size() == want.size());
    for (size_t n = 0; n < got.size(); ++n) {
        CAPTURE(n);
        CHECK(std::fabs(got[n] - want[n]) <= relative * want[n]);
    }
}

void check_losses(const std::string& training, const Numbers& want) {
    const Plan plan = train_plan(with_training(training), example("nnx_guide/one_device.yaml"));
    check_series(series(run_steps(plan, 5), "loss"), want, 2e-6);
}

} // namespace

TEST_CASE("five steps of the NNX guide on one device, on 2 x 4 and on 8: the losses of the correct random numbers") {
    for (const char* layout : {"one_device", "layout", "data_only"}) {
        CAPTURE(layout);
        const Plan plan =
            train_plan(example("nnx_guide/model.yaml"), example(fmt::format("nnx_guide/{}.yaml", layout)));
        const auto steps = run_steps(plan, 5);
        check_series(series(steps, "loss"), {1.4580092, 0.775386, 0.5240316, 0.38882914, 0.2845549}, 1e-6);
        CHECK(series(steps, "count") == Numbers{1, 2, 3, 4, 5});
        const Numbers w1 = {0.00699233, 0.03558135, -0.0148434}, w2 = {0.00298953, 0.04218491, 0.05981941};
        for (size_t n = 0; n < 3; ++n) {
            CHECK(steps.back().at("w1")[n] == doctest::Approx(w1[n]).epsilon(1e-4));
            CHECK(steps.back().at("w2")[n] == doctest::Approx(w2[n]).epsilon(1e-4));
        }
    }
}

// The losses that the guide prints, and the norms of the gradients that go with them.
TEST_CASE("with the bits that XLA of 2024 made on 2 x 4 devices the losses are those that the guide prints") {
    const std::string model = example("nnx_guide/as_printed.yaml");
    const Plan plan = train_plan(model, example("nnx_guide/layout.yaml"));
    check_series(series(run_steps(plan, 5), "loss"), {1.455235, 0.76467294, 0.50971293, 0.378493, 0.28089797}, 1e-6);
    const Plan alone = train_plan(model, example("nnx_guide/one_device.yaml"));
    check_series(series(run_steps(alone, 1), "loss"), {1.4580092}, 1e-6); // one copy: nothing to count
}

// Printed by flax 0.12.8 and JAX 0.10.2 for the guide's own code, legacy random bits.
TEST_CASE("steps of the linen guide: keys by path, xavier_normal, a sum as the loss") {
    for (const char* layout : {"layout", "one_device"}) {
        CAPTURE(layout);
        const Plan plan =
            train_plan(example("linen_guide/model.yaml"), example(fmt::format("nnx_guide/{}.yaml", layout)));
        const Numbers losses = series(run_steps(plan, 4), "loss"),
                      want = {-69.2826538, -14944.0312, -206034.688, -1242731.5};
        for (size_t n = 0; n < 4; ++n) CHECK(losses[n] == doctest::Approx(want[n]).epsilon(1e-5));
    }
}

TEST_CASE("adamw decays the weights apart from the gradient's means") {
    check_losses("  optimizer: {adamw: {learning_rate: 1.0e-3, weight_decay: 0.1}}\n",
                 {1.45800924, 0.775344193, 0.524040282, 0.388832867, 0.28452158});
}

TEST_CASE("parameters that no_decay names do not decay") {
    check_losses("  optimizer: {adamw: {learning_rate: 1.0e-3, weight_decay: 0.1, no_decay: [w1, \"w2*\"]}}\n",
                 {1.4580092, 0.775386, 0.5240316, 0.38882914, 0.2845549}); // adam's
    check_losses("  optimizer: {lion: {learning_rate: 3.0e-4, weight_decay: 0.5, no_decay: []}}\n",
                 {1.4580092, 1.1727817, 0.95463, 0.7864655, 0.6545967});
}

TEST_CASE("lion steps by the sign of one mean and remembers another") {
    check_losses("  optimizer: {lion: {learning_rate: 3.0e-4}}\n",
                 {1.4580092, 1.1729844, 0.9548718, 0.78666157, 0.65471375});
    check_losses("  optimizer: {lion: {learning_rate: 3.0e-4, weight_decay: 0.5}}\n",
                 {1.4580092, 1.1727817, 0.95463, 0.7864655, 0.6545967});
    check_losses("  optimizer: {lion: {learning_rate: 3.0e-4, b1: 0.95, b2: 0.98, weight_decay: 0.5}}\n",
                 {1.4580092, 1.1727817, 0.9561362, 0.7923664, 0.66861856});
}

TEST_CASE("sgd with momentum, Nesterov's too") {
    check_losses("  optimizer: {sgd: {learning_rate: 1.0, momentum: 0.9}}\n",
                 {1.45800924, 0.775353134, 0.527880728, 0.435192257, 0.324502617});
    check_losses("  optimizer: {sgd: {learning_rate: 1.0, momentum: 0.9, nesterov: true}}\n",
                 {1.45800924, 0.611949801, 0.411740482, 0.238179401, 0.109888904});
}

TEST_CASE("gradients are clipped by their norm together") {
    check_losses("  optimizer: {sgd: {learning_rate: 1.0}}\n  clip: {global_norm: 0.5}\n",
                 {1.45800924, 1.04010892, 0.764416218, 0.583448648, 0.466742724});
    check_losses("  optimizer: {adam: {learning_rate: 1.0e-3}}\n  clip: {global_norm: 0.5}\n",
                 {1.45800924, 0.775392592, 0.509264588, 0.355604291, 0.238653019});
}

TEST_CASE("a learning rate warms up and falls along a cosine: optax asks it with the count before the step") {
    check_losses("  optimizer: {adam: {learning_rate: {warmup_cosine: {peak: 2.0e-3, warmup_steps: 2, decay_steps: 4, "
                 "end: 1.0e-4}}}}\n",
                 {1.45800924, 1.45800924, 0.775387228, 0.533447266, 0.471752465});
}

// The bias corrections are taken in float32: 1 - 0.999f^t is 0.0009999871 at t = 1, and the exact 0.001 would change
// the sixth digit of the losses.
TEST_CASE("the learning-rate schedule and a schedule that is constant") {
    const std::string constant = "  optimizer: {adam: {learning_rate: {constant: 1.0e-3}}}\n";
    check_losses(constant, {1.4580092, 0.775386, 0.5240316, 0.38882914, 0.2845549});
}

TEST_CASE("a step written by hand with value_and_grad is the same step") {
    const std::string model = R"(model: by_hand
axes: {batch: 8, embed: 1024, hidden: 1024}
rng: {seed: 0, partitionable: false, keys: nnx}
inputs:
  input: {axes: [batch, embed], init: {normal: {stddev: 1.0}, key: 1}}
  label: {axes: [batch, embed], init: {normal: {stddev: 1.0}, key: 2}}
  count: {shape: [], dtype: i32, init: zeros}
  mu1: {axes: [embed, hidden], init: zeros}
  nu1: {axes: [embed, hidden], init: zeros}
params:
  w1: {axes: [embed, hidden], init: lecun_normal}
  w2: {axes: [hidden, embed], init: lecun_normal}
modules:
  loss_fn:
    inputs: [x, t, a, b]
    graph:
      - y: {dot: [x, a]}
      - y: {relu: y}
      - z: {dot: [y, b]}
      - l: {mse: [z, t]}
    outputs: [l]
graph:
  - loss, g1, g2: {value_and_grad: loss_fn, in: [input, label, w1, w2], wrt: [w1, w2]}
  - n1: {global_norm: g1}
  - n2: {global_norm: g2}
  - both: {global_norm: [g1, g2]}
  - p1, m1, v1: {adam: [w1, g1, mu1, nu1, count], learning_rate: 1.0e-3}
outputs: [loss, n1, n2, both, p1, m1, v1]
)";
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", model);
    request.layout_file = sources.add("layout.yaml", example("nnx_guide/layout.yaml"));
    Compilation compilation = compile(sources, request);
    REQUIRE(compilation.plan.has_value());
    const auto by_hand = run_steps(*compilation.plan, 1)[0];
    // Norms of the gradients in the first step, by JAX.
    CHECK(by_hand.at("loss")[0] == doctest::Approx(1.45800924).epsilon(1e-6));
    CHECK(by_hand.at("n1")[0] == doctest::Approx(0.784792602).epsilon(1e-5));
    CHECK(by_hand.at("n2")[0] == doctest::Approx(0.680704236).epsilon(1e-5));
    CHECK(by_hand.at("both")[0] == doctest::Approx(1.03887331).epsilon(1e-5));
    const auto step = run_steps(train_plan(example("nnx_guide/model.yaml"), example("nnx_guide/layout.yaml")), 1)[0];
    CHECK(by_hand.at("p1") == step.at("w1"));
    CHECK(by_hand.at("m1") == step.at("w1.mu"));
    CHECK(by_hand.at("v1") == step.at("w1.nu"));
}

} // namespace shard
