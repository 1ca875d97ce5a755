// Attention that drops some of its weights: those that the written-out form drops, and the same on every layout.
#include "tests/support/gradient_check.h"
#include "tests/support/model_harness.h"
#include "tests/support/op_harness.h"
#include "tests/support/prove.h"
#include "tests/support/steps.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace shard {
namespace {

const std::string layouts[] = {"mesh: {a: 2, b: 2}\nrules: [{batch: a}, {heads: b}, {kv_heads: b}]\n",
                               "mesh: {a: 2, b: 4}\nrules: [{heads: [a, b]}, {kv_heads: a}]\n",
                               "mesh: {a: 2, b: 2}\nrules: [{length: a}, {keys: b}]\n",
                               "mesh: {a: 4}\nrules: [{keys: a}]\n",
                               "mesh: {a: 2, b: 2}\nrules: [{length: a}, {heads: b}, {value_dim: a}]\n"};

std::string proved(const std::string& model, const std::string& layout, int steps = 0) {
    ProofOptions options;
    if (steps > 0) options.mode = "train";
    options.steps = std::max(1, steps);
    return fmt::format("{}", fmt::join(prove(model, layout, options), "\n"));
}

// Its result, and the gradients of a sum over it, with n as the count of steps, or by a key that is computed of one.
std::string differentiated(const std::string& operands, const std::string& arguments, const std::string& dtype = "f32",
                           const std::string& drop = ", counted: true") {
    return fmt::format(R"(model: m
axes: {{batch: 2, length: 8, keys: 8, heads: 8, kv_heads: 4, head_dim: 4, value_dim: 4}}
inputs:
  q: {{axes: [batch, length, heads, head_dim], dtype: {2}}}
  k: {{axes: [batch, keys, kv_heads, head_dim], dtype: {2}}}
  v: {{axes: [batch, keys, kv_heads, value_dim], dtype: {2}}}
  b: {{axes: [~, heads, length, keys], shape: [1, heads, length, keys], dtype: {2}}}
  at: {{shape: [], dtype: i32, init: {{randint: {{low: 0, high: 3}}}}}}
  n: {{shape: [], dtype: i32, init: {{randint: {{low: 0, high: 9}}}}}}
  key: {{shape: [2], dtype: u32, init: {{randint: {{low: 0, high: 9}}}}}}
modules:
  loss:
    inputs: [q, k, v, b, at, n, key]
    graph:
      - own: {{fold_in: [key, 3]}}
      - o: {{attention: {0}, dropout: 0.4{3}{1}}}
      - o: {{cast: o, dtype: f32}}
      - l: {{reduce_sum: {{mul: [o, o]}}}}
    outputs: [l]
graph:
  - l, dq, dk, dv, db: {{value_and_grad: loss, in: [q, k, v, b, at, n, key], wrt: [q, k, v, b]}}
outputs: [l, dq, dk, dv, db]
)",
                       operands, arguments, dtype, drop);
}

// A block of a decoder whose attention drops weights; `attended` makes o of q, k and v.
std::string trained(const std::string& attended, const std::string& repeat, const std::string& rng,
                    const std::string& train = "", const std::string& remat = "none") {
    return fmt::format(R"(model: m
axes: {{batch: 4, length: 6, embed: 8, heads: 4, kv: 4, out: 3}}
rng: {{keys: {2}}}
inputs: {{x: {{axes: [batch, length, embed]}}}}
params: {{last: {{axes: [embed, out], init: {{lecun_normal: {{}}, key: 9}}}}}}
modules:
  block:
    inputs: [x]
    remat: {4}
    params:
      s: {{axes: [embed], init: ones}}
      wq: {{axes: [embed, heads, kv], init: {{normal: {{stddev: 0.4}}, key: 1}}}}
      wo: {{axes: [heads, kv, embed], init: {{normal: {{stddev: 0.3}}, key: 2}}}}
    graph:
      - n: {{rms_norm: [x, s]}}
      - q: {{einsum: "bld,dhk->blhk", in: [n, wq]}}
{0}      - x: {{add: [x, {{einsum: "blhk,hkd->bld", in: [o, wo]}}]}}
    outputs: [x]
graph:
  - x: {{repeat: block, times: 3, in: x{1}}}
  - y: {{dot: [x, last]}}
outputs: [y]
train:
  targets: {{t: {{axes: [batch, length, out]}}}}
  loss: {{mse: [y, t]}}
  optimizer: {{sgd: {{learning_rate: 0.02}}}}
{3})",
                       attended, repeat, rng, train, remat);
}

const std::string as_attention = "      - o: {attention: [q, q, q], causal: true, scale: 0.5, dropout: 0.3}\n";
const std::string written_out = R"(      - s: {mul: [{einsum: "bqhk,bshk->bhqs", in: [q, q]}, 0.5]}
      - sees: {ge: [{iota: [1, 1, 6, 6], dim: 2}, {iota: [1, 1, 6, 6], dim: 3}]}
      - s: {select: [sees, s, -.inf]}
      - w: {dropout: {softmax: s, dim: 3}, rate: 0.3}
      - o: {einsum: "bhqs,bshk->bqhk", in: [w, q]}
)";

// The largest difference of values of two models of the same outputs, from the same inputs, in f64.
double difference(const Built& one, const Built& other, bool gradients) {
    Graph graphs[] = {*one.graph, *other.graph};
    if (gradients)
        for (Graph& graph : graphs) add_gradients(graph);
    const std::map<std::string, Array> inputs = random_inputs(graphs[0], 3), want = interpret(graphs[1], inputs);
    double most = 0;
    for (const auto& [name, array] : interpret(graphs[0], inputs)) {
        const Array& expected = want.at(name);
        for (size_t n = 0; n < array.values.size(); ++n)
            most =
                std::max(most, std::fabs(array.values[n] - expected.values[n]) / (1 + std::fabs(expected.values[n])));
    }
    return most;
}

// `o` of q (2, 3, 4, 2), k and v (2, 5, 2, 2), a bias and n, in f64.
Built built(const std::string& graph, const std::string& keys) {
    return build_text(fmt::format(R"(model: m
rng: {{keys: {}}}
inputs:
  q: {{shape: [2, 3, 4, 2], dtype: f64}}
  k: {{shape: [2, 5, 2, 2], dtype: f64}}
  v: {{shape: [2, 5, 2, 2], dtype: f64}}
  b: {{shape: [1, 4, 3, 5], dtype: f64}}
  n: {{shape: [], dtype: i32}}
  key: {{shape: [2], dtype: u32}}
graph:
{}outputs: [o, key]
)",
                                  keys, graph));
}

} // namespace

TEST_CASE("attention drops the weights that its written-out form drops, and has its gradients") {
    for (const char* keys : {"nnx", "linen", "explicit"})
        for (const char* arguments : {"", ", fold_dim: 1"}) {
            const std::string drop =
                fmt::format("rate: 0.4{}{}", std::string(keys) == "explicit" ? ", key: [3, 4]" : "", arguments);
            CAPTURE(keys);
            const Built
                whole = built(fmt::format("  - o: {{attention: [q, k, v, b, 1, n], causal: true, counted: true, "
                                          "dropout{}}}\n",
                                          drop.substr(4)),
                              keys),
                apart =
                    built(fmt::format(
                              R"(  - s: {{einsum: "bqghd,bsgd->bghqs", in: [{{reshape: q, shape: [2, 3, 2, 2, 2]}}, k]}}
  - s: {{add: [{{div: [{{reshape: s, shape: [2, 4, 3, 5]}}, {{sqrt: {{constant: 2, dtype: f64}}}}]}}, b]}}
  - sees: {{ge: [{{add: [{{iota: [1, 1, 3, 5], dim: 2}}, 1]}}, {{iota: [1, 1, 3, 5], dim: 3}}]}}
  - w: {{dropout: [{{softmax: {{select: [sees, s, -.inf]}}, dim: 3}}, n], {}}}
  - o: {{einsum: "bghqs,bsgd->bqghd", in: [{{reshape: w, shape: [2, 2, 2, 3, 5]}}, v]}}
  - o: {{reshape: o, shape: [2, 3, 4, 2]}}
)",
                              drop),
                          keys);
            CHECK(whole.problems() == "");
            CHECK(apart.problems() == "");
            REQUIRE(whole.graph.has_value());
            REQUIRE(apart.graph.has_value());
            CHECK(difference(whole, apart, false) < 1e-12);
            CHECK(difference(whole, apart, true) < 1e-12);
        }
}

TEST_CASE("attention drops by a key that is computed what is dropped by a bernoulli of its weights") {
    for (const char* bits : {"", ", bits: legacy"})
        for (const bool is_alike : {false, true}) {
            CAPTURE(bits);
            CAPTURE(is_alike);
            const Built
                whole =
                    built(fmt::format("  - own: {{fold_in: [key, n]}}\n"
                                      "  - o: {{attention: [q, k, v, b, 1, own], causal: true, dropout: 0.4{}{}}}\n",
                                      bits, is_alike ? ", broadcast_dropout: true" : ""),
                          "nnx"),
                apart =
                    built(fmt::format(
                              R"(  - s: {{einsum: "bqghd,bsgd->bghqs", in: [{{reshape: q, shape: [2, 3, 2, 2, 2]}}, k]}}
  - s: {{add: [{{div: [{{reshape: s, shape: [2, 4, 3, 5]}}, {{sqrt: {{constant: 2, dtype: f64}}}}]}}, b]}}
  - sees: {{ge: [{{add: [{{iota: [1, 1, 3, 5], dim: 2}}, 1]}}, {{iota: [1, 1, 3, 5], dim: 3}}]}}
  - own: {{fold_in: [key, n]}}
  - stays: {{bernoulli: [{}, 3, 5], in: own, probability: 0.6{}}}
  - w: {{softmax: {{select: [sees, s, -.inf]}}, dim: 3}}
  - w: {{select: [stays, {{div: [w, 0.6]}}, 0]}}
  - o: {{einsum: "bghqs,bsgd->bqghd", in: [{{reshape: w, shape: [2, 2, 2, 3, 5]}}, v]}}
  - o: {{reshape: o, shape: [2, 3, 4, 2]}}
)",
                              is_alike ? "1, 1" : "2, 4", bits),
                          "nnx");
            CHECK(whole.problems() == "");
            CHECK(apart.problems() == "");
            REQUIRE(whole.graph.has_value());
            REQUIRE(apart.graph.has_value());
            CHECK(difference(whole, apart, false) < 1e-12);
            CHECK(difference(whole, apart, true) < 1e-12);
        }
}

TEST_CASE("gradients of attention that drops weights agree with central differences") {
    for (const char* arguments :
         {"[q, kv, kv, at]", "[q, q, q, at], causal: true",
          "[q, kv, kv, 1, at], causal: true, window: 2, soft_cap: 0.7",
          "[q, kv, kv, {cast: {iota: [1, 2, 1, 3], dim: 3}, dtype: f64}, at], soft_cap: 0.7",
          "[q, kv, kv, {reshape: {slice: kv, start: [0, 0, 0, 0], limit: [1, 3, 1, 1]}, shape: [1, 1, 1, 3]}, at]",
          "[q, kv, kv, {le: [{iota: [1, 1, 3, 3], dim: 3}, {iota: [1, 1, 3, 3], dim: 2}]}, at]"})
        CHECK(gradient_problems(fmt::format("attention: {}, dropout: 0.4, key: 5, counted: true", arguments)) ==
              std::vector<std::string>{});
    for (const char* arguments :
         {"[q, kv, kv, {cast: n, dtype: u32}]",
          "[q, kv, kv, 1, {cast: n, dtype: u32}], broadcast_dropout: true, causal: true, window: 2, soft_cap: 0.7",
          "[q, kv, kv, {reshape: {slice: kv, start: [0, 0, 0, 0], limit: [1, 3, 1, 1]}, shape: [1, 1, 1, 3]}, "
          "{cast: n, dtype: u32}], bits: legacy"})
        CHECK(gradient_problems(fmt::format("attention: {}, dropout: 0.4", arguments)) == std::vector<std::string>{});
}

TEST_CASE("the weights that attention drops do not depend on the layout, nor do its gradients") {
    for (const std::string& layout : layouts)
        for (const char* operands : {"[q, k, v, n]", "[q, k, v, at, n]", "[q, k, v, b, n]"}) {
            CAPTURE(layout);
            CAPTURE(operands);
            CHECK(proved(differentiated(operands, ", causal: true, key: 7"), layout) == "");
        }
    for (const std::string& layout : layouts) {
        CAPTURE(layout);
        CHECK(proved(differentiated("[q, k, v, n]", ", window: 3, soft_cap: 2"), layout) == "");
    }
    for (const std::string& layout : layouts)
        for (const char* operands : {"[q, k, v, own]", "[q, k, v, b, at, key]"})
            for (const char* arguments : {", causal: true", ", broadcast_dropout: true, bits: legacy"}) {
                CAPTURE(layout);
                CAPTURE(operands);
                CAPTURE(arguments);
                CHECK(proved(differentiated(operands, arguments, "f32", ""), layout) == "");
            }
    CHECK(proved(differentiated("[q, k, v, n]", ", broadcast_dropout: true"), layouts[0]) == "");
    CHECK(proved("rng: {partitionable: false}\n" + differentiated("[q, k, v, n]", ""), layouts[0]) == "");
    CHECK(proved(differentiated("[q, k, v, n]", "", "bf16"), layouts[2]) == "");
}

TEST_CASE("weights are dropped by device where the layout's mesh says so") {
    for (const char* fold : {", fold: a", ", fold: b, fold_dim: 1", ", fold: a, fold_dim: 2"})
        CHECK(proved(differentiated("[q, k, v, n]", fold), layouts[0]) == "");
}

TEST_CASE("attention trains with dropout, other weights in every step, place and trip, on every layout") {
    const std::string meshes[] = {
        "mesh: {data: 2, model: 2}\nrules: [{batch: data}, {heads: model}]\n",
        "mesh: {seq: 2, model: 2}\nrules: [{length: seq}, {heads: model}]\nattention: gather\n",
        "mesh: {seq: 3}\nrules: [{length: seq}]\nattention: ring\n"};
    for (const std::string& layout : meshes) {
        CAPTURE(layout);
        for (const char* keys : {"nnx", "linen"}) CHECK(proved(trained(as_attention, "", keys), layout, 3) == "");
        CHECK(proved(trained(as_attention, ", scan: true, axis: layers", "nnx", "  microbatches: 2\n"), layout, 2) ==
              "");
        CHECK(proved(trained(as_attention, ", scan: true, axis: layers", "nnx", "", "full"), layout, 2) == "");
    }
}

TEST_CASE("a train step with attention's dropout is that of its written-out form, in scans too") {
    for (const char* repeat : {"", ", scan: true, axis: layers"})
        for (const char* keys : {"nnx", "linen"}) {
            CAPTURE(repeat);
            CAPTURE(keys);
            std::vector<double> losses[2];
            for (const bool apart : {false, true}) {
                const Plan plan =
                    train_plan(trained(apart ? written_out : as_attention, repeat, keys), "mesh: {a: 1}\n");
                Diagnostics diagnostics;
                RunOptions options;
                options.steps = 4;
                const std::optional<RunResult> run = run_plan(plan, options, diagnostics);
                REQUIRE(run.has_value());
                losses[apart ? 1 : 0] = run->scalars.at("loss");
            }
            REQUIRE(losses[0].size() == 4);
            for (size_t n = 0; n < 4; ++n) CHECK(losses[0][n] == doctest::Approx(losses[1][n]).epsilon(1e-5));
            CHECK(losses[0][0] != losses[0][1]);
        }
}

TEST_CASE("a layout of bits and a place that are written take the place of the model's") {
    const auto losses = [](const std::string& attended, const std::string& rng) {
        const Plan plan = train_plan(trained(attended, "", rng), "mesh: {a: 1}\n");
        Diagnostics diagnostics;
        RunOptions options;
        options.steps = 2;
        const std::optional<RunResult> run = run_plan(plan, options, diagnostics);
        return run ? run->scalars.at("loss") : std::vector<double>();
    };
    const std::string begin = "      - o: {attention: [q, q, q], causal: true, scale: 0.5, dropout: 0.3";
    const std::vector<double> of_model = losses(as_attention, "nnx"),
                              legacy = losses(as_attention, "nnx, partitionable: false");
    REQUIRE(of_model.size() == 2);
    CHECK(of_model != legacy);
    CHECK(losses(begin + ", bits: partitionable}\n", "nnx") == of_model);
    CHECK(losses(begin + ", bits: legacy}\n", "nnx, partitionable: false") == legacy);
    const std::vector<double> other_bits = losses(begin + ", bits: legacy}\n", "nnx");
    CHECK(other_bits[0] != of_model[0]);
    CHECK(losses(begin + ", key: 7, bits: legacy}\n", "nnx") != losses(begin + ", key: 7}\n", "nnx"));
    const std::vector<double> placed = losses(begin + ", place: [5]}\n", "linen");
    CHECK(losses(begin + ", place: [5]}\n", "nnx") == placed);
    CHECK(placed != of_model);
    CHECK(proved(trained(begin + ", key: 7, bits: legacy}\n", "", "nnx"),
                 "mesh: {seq: 2}\nrules: [{length: seq}]\nattention: ring\n", 2) == "");
}

TEST_CASE("padding of batch and heads draws nothing: weights are dropped as without it") {
    const auto padded = [](const std::string& attended) {
        std::string text = trained(attended, "", "nnx");
        text.replace(text.find("batch: 4"), 8, "batch: 5");
        text.replace(text.find("heads: 4"), 8, "heads: 3");
        return text;
    };
    const std::string model = padded(as_attention),
                      begin = "      - o: {attention: [q, q, q], causal: true, dropout: 0.3";
    CHECK(proved(padded(begin + ", broadcast_dropout: true}\n"),
                 "mesh: {data: 2, model: 2}\ndivisibility: pad\nrules: [{batch: data}, {heads: model}]\n", 2) == "");
    CHECK(proved(padded("      - key: {iota: [2], dtype: u32}\n      - o: {attention: [q, q, q, key], dropout: 0.3}\n"),
                 "mesh: {seq: 4}\ndivisibility: pad\nrules: [{length: seq}]\n", 2) == "");
    for (const char* layout : {"mesh: {data: 2, model: 2}\ndivisibility: pad\nrules: [{batch: data}, {heads: model}]\n",
                               "mesh: {data: 4}\ndivisibility: pad\nrules: [{batch: data}]\n",
                               "mesh: {seq: 4}\ndivisibility: pad\nrules: [{length: seq}]\n"})
        CHECK(proved(model, layout, 2) == "");
}

TEST_CASE("in a forward plan attention drops nothing, nor at the rate 0") {
    for (const std::string arguments : {"", ", dropout: 0.5", ", dropout: 0.5, broadcast_dropout: true",
                                        ", dropout: 0, counted: true", ", dropout: 0"}) {
        const std::string operands = arguments.find("counted") != std::string::npos ? ", n"
                                     : arguments == ", dropout: 0"                  ? ", key"
                                                                                    : "";
        const Built plain = built("  - o: {attention: [q, k, v, b]}\n", "nnx"),
                    dropped =
                        built(fmt::format("  - o: {{attention: [q, k, v, b{}]{}}}\n", operands, arguments), "nnx");
        REQUIRE(dropped.graph.has_value());
        CHECK(difference(dropped, plain, false) == 0);
        for (const Node& node : dropped.graph->nodes) CHECK(!node.attributes().has("dropout"));
    }
}

TEST_CASE("what dropout of attention's weights cannot be is refused") {
    const TensorType q = f32({2, 8, 6, 4}), count = typed(DType::i32, {});
    const std::pair<std::string, AttributeValue> half = {"dropout", 0.5}, counted = {"counted", true};
    CHECK(shape_of("attention", {q, q, q, count}, {half, counted}) == "(2, 8, 6, 4)");
    CHECK(shape_of("attention", {q, q, q, count}, {{"dropout", 1.0}, counted}) ==
          "error E0226: 'attention' cannot drop at the rate 1");
    CHECK(shape_of("attention", {q, q, q, count}, {{"dropout", -0.1}, counted}) ==
          "error E0226: 'attention' cannot drop at the rate -0.1");
    CHECK(shape_of("attention", {q, q, q}, {half, counted}) ==
          "error E0226: 'attention' has no operand that counts steps");
    CHECK(shape_of("attention", {q, q, q, f32({})}, {half, counted}) ==
          "error E0223: 'attention' does not know x3 () here");
    CHECK(shape_of("attention", {q, q, q, count, count, count}, {half, counted}) ==
          "error E0223: 'attention' does not know x5 () here");
    CHECK(shape_of("attention", {q, q, q}, {{"key", std::vector<i64>{1}}}) ==
          "error E0226: `key` of 'attention' is of its dropout, and it has none");
    CHECK(shape_of("attention", {q, q, q, count}, {half, counted, {"place", std::vector<i64>{-1}}}) ==
          "error E0226: `place` of 'attention' holds a number that is none of 32 bits");
    CHECK(shape_of("attention", {q, q, q, count}, {half, counted, {"drawn", std::vector<i64>{2, 6}}}) ==
          "error E0226: `drawn` of 'attention' is no shape of weights");
    CHECK(shape_of("attention", {q, q, q, count}, {half, counted, {"key", std::vector<i64>{1, 2, 3}}}) ==
          "error E0226: `key` of 'attention' is no key");
    CHECK(shape_of("attention", {q, q, q, count}, {half, counted, {"bits", std::string("old")}}) ==
          "error E0226: `bits` of 'attention' is no layout of random bits");
    CHECK(shape_of("attention_key_gradient", {q, q, q, q, f32({2, 8, 6}), f32({2, 8, 6})}, {half}) ==
          "error E0226: 'attention_key_gradient' drops what the attention dropped that it is of");
    const TensorType key = typed(DType::u32, {2}), word = typed(DType::u32, {});
    CHECK(shape_of("attention", {q, q, q, key}, {half}) == "(2, 8, 6, 4)");
    CHECK(shape_of("attention", {q, q, q, count, key}, {half}) == "(2, 8, 6, 4)");
    CHECK(shape_of("attention", {q, q, q, word, word}, {half}) == "(2, 8, 6, 4)");
    CHECK(shape_of("attention", {q, q, q, word, count}, {half}) ==
          "error E0224: 'attention' takes the words of a key as u32, and x4 () is not");
    CHECK(shape_of("attention", {q, q, q, key}, {}) == "error E0226: 'attention' takes no key, which x3 (2,) is");
    CHECK(shape_of("attention", {q, q, q, key}, {half, counted}) ==
          "error E0226: 'attention' takes no key, which x3 (2,) is");
    CHECK(shape_of("attention", {q, q, q, f32({}), key}, {half}) ==
          "error E0223: 'attention' does not know x3 () here");
    CHECK(shape_of("attention", {q, q, q, count, count, key}, {half}) ==
          "error E0223: 'attention' does not know x5 (2,) here");
    CHECK(shape_of("attention", {q, q, q, key}, {half, {"place", std::vector<i64>{1}}}) ==
          "error E0226: 'attention' has a key that is computed, and `place` is of one that is written");
    CHECK(shape_of("attention", {q, q, q}, {{"broadcast_dropout", true}}) ==
          "error E0226: `broadcast_dropout` of 'attention' is of its dropout, and it has none");
    CHECK(built("  - o: {attention: [q, k, v, n], dropout: 0.5, counted: true}\n", "explicit")
              .problems()
              .find("'attention' has no key, and the model says `keys: explicit`") != std::string::npos);
}

TEST_CASE("attention that drops weights holds neither them nor their mask") {
    const std::string model = R"(model: m
inputs:
  q: {shape: [1, 1024, 4, 8]}
  n: {shape: [], dtype: i32}
modules:
  loss:
    inputs: [q, n]
    graph:
      - o: {attention: [q, q, q, n], causal: true, dropout: 0.1, counted: true}
      - l: {reduce_sum: o}
    outputs: [l]
graph:
  - l, g: {value_and_grad: loss, in: [q, n], wrt: [q]}
outputs: [l, g]
)";
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", model);
    request.layout_file = sources.add("layout.yaml", "mesh: {a: 1}\n");
    const Compilation compilation = compile(sources, request);
    REQUIRE(compilation.plan.has_value());
    constexpr i64 pairs = 4 * 1024 * 1024; // a byte each in a mask
    CHECK(compilation.plan->peak_bytes * 4 < pairs);
}

} // namespace shard
