#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// An attention, and the gradients of a sum over its result. `pairs` are operands behind v: segments s and t, a bias b, a
// mask m, the start at, a key.
std::string trained(const std::string& arguments, const std::string& pairs = "", const std::string& dtype = "f32",
                    i64 keys = 24, i64 kv_heads = 2) {
    return fmt::format(R"(model: m
axes: {{batch: 2, length: 24, keys: {3}, heads: 4, kv_heads: {4}, head_dim: 4}}
inputs:
  q: {{axes: [batch, length, heads, head_dim], dtype: {2}}}
  k: {{axes: [batch, keys, kv_heads, head_dim], dtype: {2}}}
  v: {{axes: [batch, keys, kv_heads, head_dim], dtype: {2}}}
  s: {{axes: [batch, length], dtype: i32, init: {{randint: {{low: 0, high: 2}}}}}}
  t: {{axes: [batch, keys], dtype: i32, init: {{randint: {{low: 0, high: 2}}}}}}
  b: {{shape: [1, heads, length, keys], dtype: {2}}}
  m: {{shape: [batch, 1, 1, keys], dtype: i32, init: {{randint: {{low: 0, high: 3}}}}}}
  at: {{shape: [], dtype: i32, init: {{randint: {{low: 2, high: 6}}}}}}
  key: {{shape: [2], dtype: u32, init: {{randint: {{low: 0, high: 9}}}}}}
modules:
  loss:
    inputs: [q, k, v, s, t, b, m, at, key]
    graph:
      - m: {{gt: [m, 0]}}
      - o: {{attention: [q, k, v{1}]{0}}}
      - o: {{cast: o, dtype: f32}}
      - l: {{reduce_sum: {{mul: [o, o]}}}}
    outputs: [l]
graph:
  - l, dq, dk, dv: {{value_and_grad: loss, in: [q, k, v, s, t, b, m, at, key], wrt: [q, k, v]}}
outputs: [l, dq, dk, dv]
)",
                       arguments, pairs, dtype, keys, kv_heads);
}

std::string along_sequence(std::string_view mesh, std::string_view way) {
    return fmt::format("mesh: {}\nrules: [{{length: seq}}, {{keys: seq}}, {{heads: model}}, {{kv_heads: model}}]\n"
                       "missing_axes: ignore\nattention: {}\n",
                       mesh, way);
}

Plan planned(const std::string& model, const std::string& layout, const std::string& mode = "forward") {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", model);
    request.layout_file = sources.add("layout.yaml", layout);
    request.mode = mode;
    Compilation compilation = compile(sources, request);
    REQUIRE(compilation.plan.has_value());
    return std::move(*compilation.plan);
}

i64 bytes_of(const Plan& plan, std::string_view kind) {
    i64 bytes = 0;
    for (const CollectiveReport& collective : plan.report.collectives)
        if (collective.kind == kind) bytes += collective.wire_bytes_per_device; // of all executions
    return bytes;
}

const std::string forward = R"(model: m
axes: {batch: 2, length: 64, heads: 8, kv_heads: 4, head_dim: 8}
inputs:
  q: {axes: [batch, length, heads, head_dim]}
  k: {axes: [batch, length, kv_heads, head_dim]}
  v: {axes: [batch, length, kv_heads, head_dim]}
graph:
  - o: {attention: [q, k, v], causal: true}
outputs: [o]
)";

const std::string layers = R"(model: m
include: llama
axes: {batch: 2, length: 16, embed: 8, heads: 4, kv_heads: 2, kv: 4, mlp: 8, vocab: 8}
inputs:
  tokens: {axes: [batch, length], dtype: i32, init: {randint: {low: 0, high: vocab}}}
params:
  wte: {axes: [vocab, embed], init: {normal: {stddev: 0.5}}}
graph:
  - x: {gather: [wte, tokens], dim: 0}
  - x: {repeat: llama_block, times: 2, in: x, axis: layers, scan: SCAN, std: 0.3, remat: REMAT}
  - logits: {einsum: "ble,ve->blv", in: [x, wte]}
outputs: [logits]
train:
  targets: {next: {axes: [batch, length], dtype: i32, init: {randint: {low: 0, high: vocab}}}}
  loss: {softmax_cross_entropy: [logits, next]}
  optimizer: {sgd: {learning_rate: 0.01}}
)";

std::string with(std::string text, const std::string& name, const std::string& value) {
    const size_t at = text.find(name);
    REQUIRE(at != std::string::npos);
    return text.replace(at, name.size(), value);
}

} // namespace

TEST_CASE("attention goes round a ring, in zigzag order and by heads, forward and backward, whatever queries see") {
    for (const char* mesh : {"{seq: 2}", "{seq: 3}", "{seq: 4}", "{seq: 6}", "{seq: 4, model: 2}"})
        for (const char* way : {"ring", "zigzag", "all_to_all"})
            for (const char* arguments : {"", ", causal: true", ", causal: true, window: 5, soft_cap: 2"}) {
                CAPTURE(mesh);
                CAPTURE(way);
                CAPTURE(arguments);
                CHECK(prove(trained(arguments), along_sequence(mesh, way)) == std::vector<std::string>{});
            }
}

TEST_CASE("what a ring's attention is given beside q, k and v goes along with the queries and the keys") {
    for (const char* pairs : {", s, t", ", b", ", m", ", at", ", b, m, s, t, at"})
        for (const char* way : {"ring", "zigzag", "all_to_all"}) {
            CAPTURE(pairs);
            CAPTURE(way);
            CHECK(prove(trained(", causal: true", pairs), along_sequence("{seq: 4}", way)) ==
                  std::vector<std::string>{});
        }
    for (const char* way : {"ring", "zigzag", "all_to_all"}) {
        CHECK(prove(trained(", causal: true", "", "bf16"), along_sequence("{seq: 4}", way)) ==
              std::vector<std::string>{});
        CHECK(prove(trained(", causal: true, window: 9", "", "f32", 48), along_sequence("{seq: 4}", way)) ==
              std::vector<std::string>{});
        CHECK(prove(trained(", causal: true", "", "f32", 24, 1), along_sequence("{seq: 4}", way)) ==
              std::vector<std::string>{}); // one head of k and v, which all have
    }
    // By query alone: no part of it could go along in zigzag order.
    for (const char* more :
         {"b: {shape: [2, 8, 64, 1], init: normal}", "b: {shape: [2, 8, 64, 1], dtype: bool, init: ones}"})
        for (const char* way : {"ring", "zigzag", "all_to_all"})
            CHECK(prove(with(with(forward, "graph:", fmt::format("  {}\ngraph:", more)), "[q, k, v]", "[q, k, v, b]"),
                        fmt::format("mesh: {{seq: 4}}\nrules: [{{length: seq}}]\nattention: {}\n", way)) ==
                  std::vector<std::string>{});
    // Over two axes, the inner one of the mesh outer in the sequence.
    CHECK(prove(trained(", causal: true"), "mesh: {a: 2, b: 3}\nrules: [{length: [b, a]}, {keys: [b, a]}]\n"
                                           "attention: ring\n") == std::vector<std::string>{});
}

TEST_CASE("a train step goes round a ring in every layer, also of a scan and where the forward pass is made again") {
    for (const char* scan : {"true", "false"})
        for (const char* remat : {"full", "none"})
            for (const char* way : {"ring", "zigzag", "all_to_all"}) {
                CAPTURE(scan);
                CAPTURE(remat);
                CAPTURE(way);
                CHECK(prove(with(with(layers, "SCAN", scan), "REMAT", remat),
                            fmt::format("mesh: {{seq: 4}}\nrules: [{{length: seq}}]\nattention: {}\n", way),
                            {.mode = "train", .steps = 2}) == std::vector<std::string>{});
            }
}

TEST_CASE("a ring and attention by heads drop the weights that attention with gathered keys drops") {
    for (const char* mesh : {"{seq: 2}", "{seq: 4}", "{seq: 6}", "{seq: 4, model: 2}"})
        for (const char* way : {"gather", "ring", "zigzag", "all_to_all"})
            for (const char* pairs : {", at", ", b, m, at, at"}) {
                CAPTURE(mesh);
                CAPTURE(way);
                CAPTURE(pairs);
                const std::string model = trained(", causal: true, dropout: 0.4, counted: true, key: 3", pairs);
                CHECK(prove(model, along_sequence(mesh, way)) == std::vector<std::string>{});
            }
    CHECK(prove(trained(", dropout: 0.4, counted: true", ", at", "bf16", 48, 1), along_sequence("{seq: 6}", "ring")) ==
          std::vector<std::string>{});
    for (const char* way : {"gather", "ring", "all_to_all"})
        for (const char* arguments : {"", ", broadcast_dropout: true"})
            for (const char* pairs : {", key", ", b, m, at, {fold_in: [key, 2]}"}) {
                CAPTURE(way);
                CAPTURE(arguments);
                CAPTURE(pairs);
                CHECK(prove(trained(std::string(", causal: true, dropout: 0.4") + arguments, pairs),
                            along_sequence("{seq: 4, model: 2}", way)) == std::vector<std::string>{});
            }
}

TEST_CASE("in every trip of a scan a ring drops other weights, and in its own trips parts of the same") {
    const std::string model = with(with(with(layers, "include: llama\n", ""), "params:\n", R"(modules:
  block:
    inputs: [x]
    params: {w: {axes: [embed, heads, kv], init: {normal: {stddev: 0.3}}}, o: {axes: [heads, kv, embed]}}
    remat: REMAT
    graph:
      - q: {einsum: "bld,dhk->blhk", in: [x, w]}
      - a: {attention: [q, q, q], causal: true, dropout: 0.3}
      - x: {add: [x, {einsum: "blhk,hkd->bld", in: [a, o]}]}
    outputs: [x]
params:
)"),
                                   "llama_block, times: 2, in: x, axis: layers, scan: SCAN, std: 0.3, remat: REMAT",
                                   "block, times: 2, in: x, axis: layers, scan: SCAN");
    for (const char* scan : {"true", "false"})
        for (const char* remat : {"full", "none"})
            for (const char* way : {"ring", "all_to_all"}) {
                CAPTURE(scan);
                CAPTURE(remat);
                CAPTURE(way);
                CHECK(prove(with(with(model, "SCAN", scan), "REMAT", remat),
                            fmt::format("mesh: {{seq: 8}}\nrules: [{{length: seq}}]\nattention: {}\n", way),
                            {.mode = "train", .steps = 2}) == std::vector<std::string>{});
            }
}

TEST_CASE("of queries that all devices have each device attends to its own keys, and results are put together") {
    const auto layout = [](std::string_view mesh) {
        return fmt::format("mesh: {}\nrules: [{{length: ~}}, {{keys: seq}}, {{heads: model}}, {{kv_heads: model}}]\n"
                           "missing_axes: ignore\nattention: combine\n",
                           mesh);
    };
    for (const char* mesh : {"{seq: 2}", "{seq: 6}", "{seq: 4, model: 2}"})
        for (const char* pairs : {"", ", s, t", ", b", ", m", ", at", ", b, m, s, t, at"})
            for (const char* arguments : {"", ", causal: true", ", causal: true, window: 5, soft_cap: 2"}) {
                CAPTURE(mesh);
                CAPTURE(pairs);
                CAPTURE(arguments);
                CHECK(prove(trained(arguments, pairs, "f32", 48), layout(mesh)) == std::vector<std::string>{});
            }
    CHECK(prove(trained(", causal: true, dropout: 0.4, counted: true, key: 3", ", at", "bf16", 48, 1),
                layout("{seq: 4}")) == std::vector<std::string>{});
}

// The largest logsumexp, then values and weights at once: 2 (c-1)/c b q n (1 + h + 1) numbers.
TEST_CASE("a step of decoding sends what its queries are, whatever the length of the cache") {
    for (const i64 length : {64, 4096}) {
        const std::string decode = fmt::format("model: m\naxes: {{batch: 2, length: {}, heads: 8, head_dim: 16}}\n"
                                               "inputs:\n"
                                               "  q: {{shape: [batch, 1, heads, head_dim]}}\n"
                                               "  k: {{axes: [batch, length, heads, head_dim]}}\n"
                                               "  v: {{axes: [batch, length, heads, head_dim]}}\n"
                                               "  at: {{shape: [], dtype: i32}}\n"
                                               "graph:\n  - o: {{attention: [q, k, v, at], causal: true}}\n"
                                               "outputs: [o]\n",
                                               length);
        const Plan plan = planned(decode, "mesh: {seq: 4}\nrules: [{length: seq}]\nattention: combine\n");
        CHECK(bytes_of(plan, "all_reduce") == 2 * 3 * (2 * 1 * 8 * (1 + 16 + 1) * 4) / 4);
        CHECK(bytes_of(plan, "all_gather") == 0);
    }
}

// (c - 1) 2 b (S/c) n_kv h elements forward, and backward as many for k and v and as many for their gradients.
TEST_CASE("a device sends the blocks of a ring and no more") {
    constexpr i64 batch = 2, length = 64, kv_heads = 4, width = 8, f32 = 4;
    for (const i64 c : {2, 4, 8}) {
        CAPTURE(c);
        const std::string layout = fmt::format("mesh: {{seq: {}}}\nrules: [{{length: seq}}]\nattention: ring\n", c);
        const i64 round = (c - 1) * 2 * batch * (length / c) * kv_heads * width * f32;
        CHECK(bytes_of(planned(forward, layout), "collective_permute") == round);
        CHECK(bytes_of(planned(forward, with(layout, "ring", "gather")), "all_gather") == round);
        const std::string both = R"(model: m
axes: {batch: 2, length: 64, heads: 8, kv_heads: 4, head_dim: 8}
inputs:
  q: {axes: [batch, length, heads, head_dim]}
  k: {axes: [batch, length, kv_heads, head_dim]}
  v: {axes: [batch, length, kv_heads, head_dim]}
modules:
  loss:
    inputs: [q, k, v]
    graph:
      - o: {attention: [q, k, v], causal: true}
      - l: {reduce_sum: {mul: [o, o]}}
    outputs: [l]
graph:
  - l, dq, dk, dv: {value_and_grad: loss, in: [q, k, v], wrt: [q, k, v]}
outputs: [l, dq, dk, dv]
)";
        // Of two devices each has the only other block from the forward pass, and does not ask for it again.
        CHECK(bytes_of(planned(both, layout), "collective_permute") == (c == 2 ? 2 : 3) * round);
    }
}

// In zigzag order each of 2c parts goes to its device first, but for those that are there; q and the result too.
TEST_CASE("zigzag order costs k, v, q and the result once") {
    const Plan plan = planned(forward, "mesh: {seq: 4}\nrules: [{length: seq}]\nattention: zigzag\n");
    constexpr i64 c = 4, part = 2 * (64 / (2 * c)) * 8 * 4; // of one head: batch, rows, head_dim, bytes
    i64 moved = 0;
    for (i64 p = 0; p < 2 * c; ++p) moved += std::min(p, 2 * c - 1 - p) == p / 2 ? 0 : 1;
    i64 sent = 0;
    for (const CollectiveReport& collective : plan.report.collectives) sent += collective.wire_bytes_total;
    CHECK(sent == c * (c - 1) * 2 * 4 * 2 * part + moved * (2 * 4 + 2 * 8) * part);
}

TEST_CASE("no device of a ring holds all keys, and with zigzag order all compute as much as attention by heads") {
    const std::string layout = "mesh: {seq: 8}\nrules: [{length: seq}]\nhardware: h100\nattention: ring\n";
    const std::string model =
        with(with(forward, "length: 64", "length: 4096"), "heads: 8, kv_heads: 4", "heads: 8, kv_heads: 8");
    const Plan ring = planned(model, layout), gather = planned(model, with(layout, "ring", "gather")),
               zigzag = planned(model, with(layout, "ring", "zigzag")),
               heads = planned(model, with(layout, "ring", "all_to_all"));
    constexpr i64 keys = 2 * 4096 * 8 * 8 * 4; // all of k
    CHECK(gather.peak_bytes > 2 * keys);
    CHECK(ring.peak_bytes < 2 * keys);
    // The fullest device computes with every block of a ring, and half of it in zigzag order.
    const auto flops = [](const Plan& plan) { return static_cast<double>(plan.report.flops_per_device); };
    CHECK(flops(zigzag) < 0.6 * flops(ring));
    CHECK(flops(zigzag) < 1.1 * flops(heads));
}

} // namespace shard
