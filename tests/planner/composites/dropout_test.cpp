// Dropout in train steps: masks are those of jax.random, the same on every layout, and other ones in every step.
#include "tests/support/interpreter.h"
#include "tests/support/model_harness.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {
namespace {

std::string model(const std::string& dropout, const std::string& keys) {
    return fmt::format(R"(model: dropped
axes: {{batch: 8, in: 12, hidden: 16, out: 4}}
rng: {{keys: {}}}
inputs: {{x: {{axes: [batch, in]}}}}
params:
  w1: {{axes: [in, hidden], init: {{lecun_normal: {{}}, key: 1}}}}
  w2: {{axes: [hidden, out], init: {{lecun_normal: {{}}, key: 2}}}}
graph:
  - h: {{dot: [x, w1]}}
  - h: {{tanh: h}}
  - h: {{dropout: h, {}}}
  - y: {{dot: [h, w2]}}
outputs: [y]
train:
  targets: {{t: {{axes: [batch, out]}}}}
  loss: {{mse: [y, t]}}
  optimizer: {{sgd: {{learning_rate: 0.125}}}}
)",
                       keys, dropout);
}

std::string trained(const std::string& text, const std::string& layout) {
    ProofOptions options;
    options.mode = "train";
    options.steps = 3;
    return fmt::format("{}", fmt::join(prove(text, layout, options), "\n"));
}

// The mask of a (2, 8) array of ones, in one row.
std::vector<double> mask_of(const std::string& keys, const std::string& dropout, double step) {
    Built built =
        build_text(fmt::format("model: m\nrng: {{keys: {}}}\ninputs: {{x: {{shape: [2, 8]}}, n: {{shape: [], "
                               "dtype: i32}}}}\ngraph:\n  - y: {{dropout: [x, n], rate: 0.5{}}}\noutputs: [y]\n",
                               keys, dropout));
    INFO(built.problems());
    REQUIRE(built.graph.has_value());
    std::vector<double> mask =
        interpret(*built.graph, {{"x", {{2, 8}, std::vector<double>(16, 0.5)}}, {"n", {{}, {step}}}}).at("y").values;
    return mask;
}

} // namespace

TEST_CASE("dropout trains alike on every layout, under every scheme of keys") {
    for (const char* layout :
         {"mesh: {data: 2, model: 2}\nrules: [{batch: data}, {hidden: model}]\n",
          "mesh: {data: 4}\nrules: [{batch: data}]\n", "mesh: {model: 4}\nrules: [{hidden: model}]\n"})
        for (const char* keys : {"nnx", "linen"}) CHECK(trained(model("rate: 0.25", keys), layout) == "");
    CHECK(trained(model("rate: 0.25, key: 3", "explicit"), "mesh: {data: 2}\nrules: [{batch: data}]\n") == "");
}

TEST_CASE("dropout by device gives every device along the axis a mask of its own, and one device makes them all") {
    const char* layout = "mesh: {data: 2, model: 2}\nrules: [{batch: data}, {hidden: model}]\n";
    CHECK(trained(model("rate: 0.25, fold: data", "nnx"), layout) == "");
    CHECK(trained(model("rate: 0.25, fold: model, fold_dim: 1", "linen"), layout) == "");
}

TEST_CASE("masks are those of jax.random") {
    // jax 0.10: bernoulli(fold_in(fold_in(key(0), step), place), 0.5, (2, 8)), place 0 (nnx) or 2711844646, the hash of
    // "Dropout_0" and the counter 1 (linen)
    CHECK(mask_of("nnx", "", 0) == std::vector<double>{1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0});
    CHECK(mask_of("nnx", "", 1) == std::vector<double>{0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1, 0, 1, 1, 0, 0});
    CHECK(mask_of("linen", "", 0) == std::vector<double>{1, 1, 1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0});
}

TEST_CASE("dropout is its operand in a forward plan, and refuses rates that are none") {
    const Built built = build_text("model: m\ninputs: {x: {shape: [4]}}\ngraph:\n  - y: {dropout: x, rate: 0.5}\n"
                                   "outputs: [y]\n");
    REQUIRE(built.graph.has_value());
    CHECK(interpret(*built.graph, {{"x", {{4}, {1, 2, 3, 4}}}}).at("y").values == std::vector<double>{1, 2, 3, 4});
    CHECK(build_text("model: m\ninputs: {x: {shape: [4]}}\ngraph:\n  - y: {dropout: x, rate: 1}\noutputs: [y]\n")
              .problems()
              .find("E0226") != std::string::npos);
}

} // namespace shard
