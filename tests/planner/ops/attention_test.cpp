#include "tests/support/gradient_check.h"
#include "tests/support/model_harness.h"
#include "tests/support/op_harness.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

namespace shard {

namespace {

const TensorType q = f32({2, 8, 6, 4}), k = f32({2, 10, 3, 4}), v = f32({2, 10, 3, 5}), given = f32({2, 8, 6, 5}),
                 rows = f32({2, 8, 6});

// What JAX 0.10.2's dot_product_attention gave for q (1, 4, 4, 2), k and v (1, 5, 2, 2), whose elements are sin(0.7 i),
// sin(0.7 i + 1) and sin(0.7 i + 2), in f64: elements 0, 5, -4 and -1 of the result and of the gradients of q, k and v
// of what add_gradients differentiates. Its soft cap is written out.
struct JaxAttention {
    std::string arguments;
    std::vector<double> result, of_q, of_k, of_v;
};
const JaxAttention jax[] = {
    {"",
     {0.407450771, -0.081217304, 0.397700538, -0.105363833},
     {0.0928038264, 0.2341768, 0.0878998256, 0.0237609936},
     {0.0217498844, -0.0495864164, 0.00170437885, -0.0508422032},
     {0.0197610606, -0.0830202961, -0.0651876736, -0.000169490227}},
    {", causal: true",
     {0.909297427, -0.818277111, 0.0864591788, -0.328214526},
     {0.0, 0.0, 0.162555002, -0.0303186728},
     {0.11158433, -0.0757967916, 0.0, 0.0},
     {0.106826638, 0.136919793, 0.0, 0.0}},
    {", causal: true, scale: 0.3",
     {0.909297427, -0.818277111, -0.0450418375, -0.232555519},
     {0.0, 0.0, 0.108324267, -0.0213097248},
     {0.0502883707, -0.0537530977, 0.0, 0.0},
     {-0.0985999454, 0.0341039217, 0.0, 0.0}},
    {", causal: true, window: 2", // local_window_size=(1, 0)
     {0.909297427, -0.818277111, 0.283774259, -0.233601448},
     {0.0, 0.0, 0.102047904, -0.0310955875},
     {0.0669228981, -0.176335779, 0.0, 0.0},
     {-0.0605574547, 0.285497197, 0.0, 0.0}},
    {", window: 2", // local_window_size=1
     {0.357358498, -0.21232999, 0.595565129, 0.0475410365},
     {0.214724086, 0.0663092789, 0.0453101951, 0.0172456195},
     {0.0164408389, -0.122664644, -0.000123205962, -0.0307712483},
     {-0.254006255, 0.244145217, 0.0168249394, -0.186251267}},
    {", causal: true, soft_cap: 0.5",
     {0.909297427, -0.818277111, -0.0383192017, -0.289141382},
     {0.0, 0.0, 0.0585268004, -0.01133527},
     {0.0555518071, -0.0415357787, 0.0, 0.0},
     {0.0191611045, 0.16179664, 0.0, 0.0}},
};
const JaxAttention jax_of_pairs[] = {
    {", bias]",
     {0.530084925, -0.00477907525, 0.588880963, 0.0957300094},
     {0.0984846708, 0.297717543, 0.0449506986, 0.0243311353},
     {0.0274116756, -0.0261549099, 0.0956614852, -0.0146161058},
     {0.232346325, -0.121697363, -0.209125576, -0.155917816}},
    {", of_keys], causal: true",
     {0.909297427, -0.818277111, -0.0419440038, -0.480459728},
     {0, 0, 0.137330362, -0.0200294006},
     {0.139965952, -0.0524583744, 0, 0},
     {0.0432080546, -0.00581403363, 0, 0}},
    {", mask]",
     {0.587854168, -0.0848099613, 0.446606234, -0.451966867},
     {0.0568163485, 0.135907653, 0.0636350333, -0.00219557366},
     {-0.00576737304, -0.0586968234, -0.0248284975, -0.146505281},
     {0.0830552071, 0.457888088, -0.614697003, -0.421871038}},
    {", bias, mask], causal: true",
     {0.909297427, -0.818277111, 0.110801949, -0.29674967},
     {0, 0, 0.101566517, -0.0303717224},
     {0.109384552, -0.0918057599, 0, 0},
     {0.0125285096, 0.940873861, 0, 0}},
    {", of_q, of_k]", // mask: the segments are the same
     {0.601453679, -0.232732161, 0.735583969, 0.309934855},
     {0.122965115, 0.124716811, 0.0426031476, 0.0340550706},
     {0.0345911676, -0.0266725611, 0.140215343, -0.105717293},
     {-0.129311581, 0.407998411, 0.219741873, -0.184422193}},
};
const JaxAttention jax_from_1 = {"", // mask: query + 1 >= key
                                 {0.357358498, -0.21232999, 0.397700538, -0.105363833},
                                 {0.214724086, 0.0663092789, 0.0878998256, 0.0237609936},
                                 {0.0595245974, -0.0650712032, -0.0254347541, -0.0247974309},
                                 {-0.0995123175, 0.0833283839, -0.0306016971, -0.157504988}};

Array waves(const Shape& shape, double phase) {
    Array array{shape, {}};
    for (i64 i = 0; i < count_of(shape); ++i) array.values.push_back(std::sin(0.7 * static_cast<double>(i) + phase));
    return array;
}

void check_against_jax(const std::string& entry, const JaxAttention& want) {
    CAPTURE(entry);
    const std::map<std::string, Array> inputs = {
        {"q", waves({1, 4, 4, 2}, 0)}, {"k", waves({1, 5, 2, 2}, 1)}, {"v", waves({1, 5, 2, 2}, 2)}, {"at", {{}, {1}}}};
    const bool starts = entry.find("at]") != std::string::npos;
    // The bias is sin(0.7 i + 3), `of_keys` the same of a row; the mask hides every third pair, but no first key.
    Built built = build_text(fmt::format(R"(model: m
inputs:
  q: {{shape: [1, 4, 4, 2], dtype: f64}}
  k: {{shape: [1, 5, 2, 2], dtype: f64}}
  v: {{shape: [1, 5, 2, 2], dtype: f64}}
{}graph:
  - places: {{iota: [1, 4, 4, 5], dim: 1}}
  - places: {{add: [{{mul: [places, 4]}}, {{iota: [1, 4, 4, 5], dim: 2}}]}}
  - places: {{add: [{{mul: [places, 5]}}, {{iota: [1, 4, 4, 5], dim: 3}}]}}
  - bias: {{sin: {{add: [{{mul: [{{cast: places, dtype: f64}}, 0.7]}}, 3]}}}}
  - of_keys: {{slice: bias, start: [0, 0, 0, 0], limit: [1, 1, 1, 5]}}
  - mask: {{or: [{{ne: [{{rem: [places, 3]}}, 1]}}, {{eq: [{{rem: [places, 5]}}, 0]}}]}}
  - of_q: {{constant: [0, 0, 1, 1], shape: [1, 4], dtype: i32}}
  - of_k: {{constant: [0, 0, 0, 1, 1], shape: [1, 5], dtype: i32}}
  - y: {{attention: {}}}
outputs: [y]
)",
                                         starts ? "  at: {shape: [], dtype: i32}\n" : "", entry));
    CHECK(built.problems().find("E0") == std::string::npos); // what an entry does not use is warned of
    REQUIRE(built.graph.has_value());
    const auto check = [](const Array& got, const std::vector<double>& expected) {
        const size_t size = got.values.size(), places[] = {0, 5, size - 4, size - 1};
        for (size_t n = 0; n < 4; ++n) CHECK(got.values[places[n]] == doctest::Approx(expected[n]).epsilon(1e-6));
    };
    check(interpret(*built.graph, inputs).at("y"), want.result);
    add_gradients(*built.graph);
    const std::map<std::string, Array> gradients = interpret(*built.graph, inputs);
    check(gradients.at("grad.q"), want.of_q);
    check(gradients.at("grad.k"), want.of_k);
    check(gradients.at("grad.v"), want.of_v);
}

// Its result, and the gradients of a sum over it.
// `pairs` are the operands behind v; s and t are segments.
std::string trained(const std::string& arguments, const std::string& dtype = "f32", const std::string& pairs = "") {
    return fmt::format(R"(model: m
axes: {{batch: 4, length: 8, keys: 8, heads: 8, kv_heads: 4, head_dim: 4, value_dim: 4}}
inputs:
  q: {{axes: [batch, length, heads, head_dim], dtype: {0}}}
  k: {{axes: [batch, keys, kv_heads, head_dim], dtype: {0}}}
  v: {{axes: [batch, keys, kv_heads, value_dim], dtype: {0}}}
  s: {{axes: [batch, length], dtype: i32, init: {{randint: {{low: 0, high: 2}}}}}}
  t: {{axes: [batch, keys], dtype: i32, init: {{randint: {{low: 0, high: 2}}}}}}
modules:
  loss:
    inputs: [q, k, v, s, t]
    graph:
      - o: {{attention: [q, k, v{2}]{1}}}
      - o: {{cast: o, dtype: f32}}
      - o: {{mul: [o, o]}}
      - l: {{reduce_sum: o}}
    outputs: [l]
graph:
  - o: {{attention: [q, k, v{2}]{1}}}
  - l, dq, dk, dv: {{value_and_grad: loss, in: [q, k, v, s, t], wrt: [q, k, v]}}
outputs: [o, l, dq, dk, dv]
)",
                       dtype, arguments, pairs);
}

} // namespace

TEST_CASE("attention splits over batch, queries, heads and the width of v") {
    CHECK(rule_of("attention", {q, k, v}) ==
          "([i, j, kl, n],[i, m, k, n],[i, m, k, o])->([i, j, kl, o]) {i=2, j=8, k=3, l=2, m=10, n=4, o=5} "
          "need_replication={m, n}");
    CHECK(rule_of("attention", {k, k, k}) ==
          "([i, j, k, m],[i, l, k, m],[i, l, k, n])->([i, j, k, n]) {i=2, j=10, k=3, l=10, m=4, n=4} "
          "need_replication={l, m}");
    CHECK(rule_of("attention_logsumexp", {q, k}) ==
          "([i, j, kl, n],[i, m, k, n])->([i, j, kl]) {i=2, j=8, k=3, l=2, m=10, n=4} need_replication={m, n}");
}

TEST_CASE("attention's gradients split over keys too, and what is summed over queries or heads is a partial sum") {
    CHECK(rule_of("attention_query_gradient", {q, k, v, given, rows, rows}) ==
          "([i, j, kl, n],[i, m, k, n],[i, m, k, o],[i, j, kl, o],[i, j, kl],[i, j, kl])->([i, j, kl, n]) {i=2, j=8, "
          "k=3, l=2, m=10, n=4, o=5} reduction={m} need_replication={n, o}");
    CHECK(rule_of("attention_key_gradient", {q, k, v, given, rows, rows}) ==
          "([i, j, kl, n],[i, m, k, n],[i, m, k, o],[i, j, kl, o],[i, j, kl],[i, j, kl])->([i, m, k, n]) {i=2, j=8, "
          "k=3, l=2, m=10, n=4, o=5} reduction={j, l} need_replication={n, o}");
    CHECK(rule_of("attention_value_gradient", {q, k, given, rows}) ==
          "([i, j, kl, n],[i, m, k, n],[i, j, kl, o],[i, j, kl])->([i, m, k, o]) {i=2, j=8, k=3, l=2, m=10, n=4, o=5} "
          "reduction={j, l} need_replication={n}");
}

TEST_CASE("attention is refused of shapes, types and arguments that it cannot take") {
    CHECK(shape_of("attention", {q, k, v}) == "(2, 8, 6, 5)");
    CHECK(shape_of("attention_logsumexp", {typed(DType::bf16, {2, 8, 6, 4}), typed(DType::bf16, {2, 10, 3, 4})}) ==
          "(2, 8, 6)");
    CHECK(shape_of("attention", {q, k, given}) == "error E0223: 'attention' cannot combine q (2, 8, 6, 4), k (2, 10, "
                                                  "3, 4) and v (2, 8, 6, 5)");
    CHECK(shape_of("attention", {q, f32({2, 10, 4, 4}), f32({2, 10, 4, 5})}) ==
          "error E0223: 'attention' cannot combine q (2, 8, 6, 4), k (2, 10, 4, 4) and v (2, 10, 4, 5)");
    CHECK(shape_of("attention", {typed(DType::i32, {2, 8, 6, 4}), k, v}) ==
          "error E0224: 'attention' needs a floating-point type, and x0 is i32");
    CHECK(shape_of("attention", {q, k, typed(DType::bf16, {2, 10, 3, 5})}) ==
          "error E0224: the operands of 'attention' have different element types: x0 is f32, x2 is bf16");
    CHECK(shape_of("attention", {q, k, v, f32({})}) ==
          "error E0224: 'attention' needs a whole number as the start, and x3 is f32");
    CHECK(shape_of("attention", {q, k, v, typed(DType::i32, {1})}) ==
          "error E0223: the start of 'attention' is one number, and x3 (1,) is not");
    CHECK(shape_of("attention_value_gradient", {q, k, given, typed(DType::f64, {2, 8, 6})}) ==
          "error E0224: 'attention_value_gradient' takes x3 (2, 8, 6) as f32");
    CHECK(shape_of("attention", {q, k, v}, {{"soft_cap", 0.0}}) ==
          "error E0226: `soft_cap` of 'attention' is not above 0");
    CHECK(shape_of("attention", {q, k, v}, {{"window", i64{0}}}) ==
          "error E0226: `window` of 'attention' has to be from 1 to 2147483647, and is 0");
    CHECK(shape_of("attention", {v, f32({2, 4, 3, 5}), f32({2, 4, 3, 5})}, {{"window", i64{6}}}) ==
          "error E0226: the last of 10 queries of 'attention' sees none of 4 keys with a window of 6");
    CHECK(shape_of("attention", {v, f32({2, 4, 3, 5}), f32({2, 4, 3, 5})}, {{"window", i64{7}}}) == "(2, 10, 3, 5)");
}

TEST_CASE("attention and its gradients are those of JAX: causal, scaled, with a window, capped, from a position on") {
    for (const JaxAttention& one : jax) check_against_jax("[q, k, v]" + one.arguments, one);
    check_against_jax("[q, k, v, at], causal: true", jax_from_1);
}

TEST_CASE("attention with a bias, a mask or segments, and its gradients, are those of JAX") {
    for (const JaxAttention& one : jax_of_pairs) check_against_jax("[q, k, v" + one.arguments, one);
}

TEST_CASE("a query that a mask, a bias or segments hide every key from has the result 0 and no gradient") {
    for (const char* hidden : {"{eq: [{iota: [1, 1, 3, 1], dim: 2}, 0]}", "{constant: -.inf, shape: [1, 1, 1, 3]}",
                               "{constant: [[7, 0, 0]], dtype: i32}, {constant: [[0, 0, 0]], dtype: i32}"}) {
        CAPTURE(hidden);
        Built built = build_text(fmt::format("model: m\ninputs: {{q: {{shape: [1, 3, 2, 2]}}}}\n"
                                             "graph:\n  - y: {{attention: [q, q, q, {}]}}\noutputs: [y]\n",
                                             hidden));
        CHECK(built.problems() == "");
        REQUIRE(built.graph.has_value());
        const std::map<std::string, Array> inputs = {{"q", waves({1, 3, 2, 2}, 0)}};
        const bool none = std::string(hidden).find("constant: -.inf") != std::string::npos,
                   first = std::string(hidden).find("7") != std::string::npos;
        const Array result = interpret(*built.graph, inputs).at("y");
        for (size_t n = 0; n < result.values.size(); ++n) {
            CHECK(std::isfinite(result.values[n]));
            if (none || first == (n < 4)) CHECK(result.values[n] == 0);
        }
        add_gradients(*built.graph);
        const Array slopes = interpret(*built.graph, inputs).at("grad.q");
        for (double slope : slopes.values) CHECK(std::isfinite(slope));
    }
}

TEST_CASE("attention's gradient by a bias is split as the bias is, and summed where it is one for all") {
    CHECK(
        rule_of("attention_bias_gradient", {q, k, v, given, rows, rows, f32({2, 6, 8, 10})}) ==
        "([i, j, kl, n],[i, m, k, n],[i, m, k, o],[i, j, kl, o],[i, j, kl],[i, j, kl],[i, kl, j, m])->([i, kl, j, m]) "
        "{i=2, j=8, k=3, l=2, m=10, n=4, o=5} need_replication={n, o}");
    CHECK(rule_of("attention_bias_gradient", {q, k, v, given, rows, rows, f32({1, 6, 8, 1})}) ==
          "([i, j, kl, n],[i, m, k, n],[i, m, k, o],[i, j, kl, o],[i, j, kl],[i, j, kl],[, kl, j, ])->([, kl, j, ]) "
          "{i=2, j=8, k=3, l=2, m=10, n=4, o=5} reduction={i, m} need_replication={n, o}");
    for (const char* bias : {"[batch, heads, length, keys]", "[1, heads, 1, keys]", "[batch, 1, length, keys]"})
        for (const char* rules : {"[{batch: a}, {heads: b}, {kv_heads: b}]", "[{length: a}, {heads: b}]",
                                  "[{keys: a}, {batch: b}]", "[{heads: [a, b]}, {kv_heads: a}]"}) {
            CAPTURE(bias);
            CAPTURE(rules);
            CHECK(prove(fmt::format(R"(model: m
axes: {{batch: 4, length: 8, keys: 8, heads: 8, kv_heads: 4, head_dim: 4}}
inputs:
  q: {{axes: [batch, length, heads, head_dim]}}
  k: {{axes: [batch, keys, kv_heads, head_dim]}}
  b: {{shape: {}}}
modules:
  loss:
    inputs: [q, k, b]
    graph:
      - o: {{attention: [q, k, k, b], causal: true, soft_cap: 3}}
      - l: {{reduce_sum: {{mul: [o, o]}}}}
    outputs: [l]
graph:
  - l, dq, db: {{value_and_grad: loss, in: [q, k, b], wrt: [q, b]}}
outputs: [l, dq, db]
)",
                                    bias),
                        fmt::format("mesh: {{a: 2, b: 4}}\nrules: {}\n", rules)) == std::vector<std::string>{});
        }
}

TEST_CASE("one bias for all scores has its gradient where queries and keys are split over the same axis") {
    const std::string model = R"(model: m
axes: {batch: 2, length: 8, heads: 2, head_dim: 4}
inputs: {x: {axes: [batch, length, heads, head_dim]}}
params: {b: {shape: [1, 1, 1, 1]}}
graph: [{o: {attention: [x, x, x, b], causal: true}}]
outputs: [o]
train:
  targets: {t: {axes: [batch, length, heads, head_dim]}}
  loss: {mse: [o, t]}
  optimizer: {sgd: {learning_rate: 0.1}}
)";
    ProofOptions options;
    options.mode = "train";
    for (const char* rules : {"[{length: a}]", "[{length: [a, b]}]", "[{length: a}, {batch: b}]"})
        CHECK(prove(model, fmt::format("mesh: {{a: 2, b: 2}}\nrules: {}\n", rules), options) ==
              std::vector<std::string>{});
}

TEST_CASE("attention's gradients agree with central differences") {
    for (const char* arguments :
         {"[q, kv, kv]", "[q, q, q], causal: true", "[q, kv, kv], window: 2", "[q, kv, kv, far]",
          "[q, kv, kv], causal: true, window: 2, soft_cap: 0.7, scale: -0.8", "[kv, kv, kv, at], causal: true",
          "[q, kv, kv, {cast: {iota: [1, 2, 1, 3], dim: 3}, dtype: f64}], soft_cap: 0.7",
          "[q, kv, kv, {reshape: {slice: kv, start: [0, 0, 0, 0], limit: [1, 3, 1, 1]}, shape: [1, 1, 1, 3]}], "
          "soft_cap: 0.7",
          "[q, q, q, {reshape: {slice: q, start: [0, 0, 0, 0], limit: [1, 3, 2, 1]}, shape: [1, 2, 3, 1]}], causal: "
          "true",
          "[q, kv, kv, {le: [{iota: [1, 1, 3, 3], dim: 3}, {iota: [1, 1, 3, 3], dim: 2}]}]",
          "[q, kv, kv, {reshape: {rem: [l, 2]}, shape: [1, 3]}, {reshape: {rem: [l, 2]}, shape: [1, 3]}], causal: "
          "true"})
        CHECK(gradient_problems(fmt::format("attention: {}", arguments)) == std::vector<std::string>{});
}

TEST_CASE("attention and its gradients are the same split over batch, heads, groups of heads, queries and keys") {
    for (const char* rules : {"[{batch: a}, {heads: b}, {kv_heads: b}]", "[{batch: b}]", "[{length: a}, {heads: b}]",
                              "[{heads: [a, b]}, {kv_heads: a}]", "[{keys: a}, {length: b}]", "[{value_dim: a}]",
                              "[{head_dim: b}, {batch: a}]"})
        for (const char* arguments : {"", ", causal: true", ", causal: true, window: 3, soft_cap: 2"}) {
            CAPTURE(rules);
            CAPTURE(arguments);
            CHECK(prove(trained(arguments), fmt::format("mesh: {{a: 2, b: 4}}\nrules: {}\n", rules)) ==
                  std::vector<std::string>{});
        }
    CHECK(prove(trained(", causal: true", "bf16"), "mesh: {a: 2, b: 2}\nrules: [{length: a}, {heads: b}]\n") ==
          std::vector<std::string>{});
}

TEST_CASE("a bias, a mask and segments are split with the queries, heads and keys that they speak of") {
    CHECK(rule_of("attention", {q, k, v, f32({1, 6, 8, 10}), typed(DType::boolean, {2, 1, 1, 10})}) ==
          "([i, j, kl, n],[i, m, k, n],[i, m, k, o],[, kl, j, m],[i, , , m])->([i, j, kl, o]) {i=2, j=8, k=3, l=2, "
          "m=10, "
          "n=4, o=5} need_replication={m, n}");
    const TensorType of_queries = typed(DType::i32, {2, 8}), of_keys = typed(DType::i32, {2, 10});
    CHECK(rule_of("attention_value_gradient", {q, k, given, rows, of_queries, of_keys}) ==
          "([i, j, kl, n],[i, m, k, n],[i, j, kl, o],[i, j, kl],[i, j],[i, m])->([i, m, k, o]) {i=2, j=8, k=3, l=2, "
          "m=10, "
          "n=4, o=5} reduction={j, l} need_replication={n}");
    for (const char* rules : {"[{batch: a}, {heads: b}, {kv_heads: b}]", "[{length: a}, {heads: b}]",
                              "[{keys: a}, {length: b}]", "[{heads: [a, b]}, {kv_heads: a}]"})
        for (const char* pairs :
             {"{cast: {iota: [8, 8, 8], dim: 0}, dtype: f32}", "{gt: [{iota: [1, 1, 8, 8], dim: 3}, 2]}", "s, t"}) {
            const std::string reshaped = std::string(pairs).find("[8, 8, 8]") != std::string::npos
                                             ? fmt::format("{{reshape: {}, shape: [1, 8, 8, 8]}}", pairs)
                                             : pairs;
            CAPTURE(rules);
            CAPTURE(reshaped);
            CHECK(prove(trained(", causal: true", "f32", ", " + reshaped),
                        fmt::format("mesh: {{a: 2, b: 4}}\nrules: {}\n", rules)) == std::vector<std::string>{});
        }
}

TEST_CASE("a bias, a mask and segments of other shapes are refused") {
    const std::string both =
        "error E0223: 'attention' cannot combine q (2, 8, 6, 4), k (2, 10, 3, 4), v (2, 10, 3, 5) and ";
    CHECK(shape_of("attention", {q, k, v, f32({2, 3, 8, 10})}) == both + "bias (2, 3, 8, 10)");
    CHECK(shape_of("attention", {q, k, v, typed(DType::boolean, {2, 1, 8, 8})}) == both + "mask (2, 1, 8, 8)");
    CHECK(shape_of("attention", {q, k, v, typed(DType::i32, {2, 8})}) == both + "segments (2, 8)");
    CHECK(shape_of("attention", {q, k, v, f32({8, 10})}) == "error E0223: 'attention' does not know x3 (8, 10) here");
    CHECK(shape_of("attention", {q, k, v, f32({1, 1, 8, 10}), typed(DType::boolean, {1, 1, 1, 10}),
                                 typed(DType::i32, {2, 8}), typed(DType::i32, {2, 10}), typed(DType::i32, {})}) ==
          "(2, 8, 6, 5)");
}

TEST_CASE("a step of decoding sees the keys up to its position, on every device of a split cache's batch and heads") {
    CHECK(prove(R"(model: decode
axes: {batch: 4, one: 1, keys: 8, heads: 4, head_dim: 4}
inputs:
  q: {axes: [batch, one, heads, head_dim]}
  k: {axes: [batch, keys, heads, head_dim]}
  v: {axes: [batch, keys, heads, head_dim]}
  at: {shape: [], dtype: i32, init: {randint: {low: 2, high: 6}}}
graph:
  - o: {attention: [q, k, v, at], causal: true}
outputs: [o]
)",
                "mesh: {a: 2, b: 2}\nrules: [{batch: a}, {heads: b}]\n") == std::vector<std::string>{});
}

TEST_CASE("a number written where something starts is whole, whatever stands beside it") {
    const Built built = build_text("model: m\ninputs: {q: {shape: [1, 3, 2, 2]}, k: {shape: [1, 8, 2, 2]}}\ngraph:\n"
                                   "  - y: {attention: [q, k, k, 2], causal: true}\n"
                                   "  - z: {dynamic_slice: [k, 3], dim: 1, size: 4}\n"
                                   "  - u: {dynamic_update_slice: [k, q, 3], dim: 1}\noutputs: [y, z, u]\n");
    CHECK(built.problems() == "");
}

TEST_CASE("attention is not differentiated twice") {
    const std::string model = R"(model: m
inputs: {q: {shape: [1, 2, 1, 2]}}
modules:
  loss:
    inputs: [q]
    graph:
      - o: {attention: [q, q, q]}
      - l: {reduce_sum: o}
    outputs: [l]
  steepness:
    inputs: [q]
    graph:
      - l, g: {value_and_grad: loss, in: q, wrt: [q]}
      - g: {mul: [g, g]}
      - s: {reduce_sum: g}
    outputs: [s]
graph:
  - s, g: {value_and_grad: steepness, in: q, wrt: [q]}
outputs: [s, g]
)";
    const std::string problems = build_text(model).problems();
    CHECK(problems.find("E0246 7: attention has no second derivative | write it out: an einsum, a softmax and an "
                        "einsum") != std::string::npos);
}

TEST_CASE("attention holds no scores, and its gradient neither") {
    constexpr i64 length = 1024, heads = 4, score_bytes = heads * length * length * 4;
    const std::string model = R"(model: m
inputs:
  q: {shape: [1, 1024, 4, 8]}
modules:
  loss:
    inputs: [q]
    graph:
      - o: {attention: [q, q, q], causal: true}
      - l: {reduce_sum: o}
    outputs: [l]
graph:
  - l, g: {value_and_grad: loss, in: q, wrt: [q]}
outputs: [l, g]
)";
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", model);
    request.layout_file = sources.add("layout.yaml", "mesh: {a: 1}\n");
    const Compilation compilation = compile(sources, request);
    REQUIRE(compilation.plan.has_value());
    CHECK(compilation.plan->peak_bytes * 10 < score_bytes);
}

} // namespace shard
