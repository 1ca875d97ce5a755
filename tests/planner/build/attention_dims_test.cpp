// Attention over heads instead of positions has shapes that fit: names alone tell.
#include "tests/support/model_harness.h"

#include "planner/build/attention_dims.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {
namespace {

// What is said of attention over operands with these axes, all of size 4.
std::string said_of(const std::string& q, const std::string& k) {
    const Built built = build_text(fmt::format(
        "model: m\naxes: {{batch: 4, length: 4, seq: 4, heads: 4, kv_heads: 4, kv: 4, head: 4, left: 4, right: 4}}\n"
        "inputs:\n  q: {{axes: [{0}]}}\n  k: {{axes: [{1}]}}\n  v: {{axes: [{1}]}}\ngraph:\n"
        "  - y: {{attention: [q, k, v], causal: true}}\noutputs: [y]\n",
        q, k));
    REQUIRE(built.graph.has_value());
    Diagnostics diagnostics;
    warn_of_attention_dims(*built.graph, diagnostics);
    std::string out;
    for (const Diagnostic& diagnostic : diagnostics.all()) {
        out += fmt::format("{} {}: {}\n", diagnostic.code, diagnostic.labels.at(0).span.line, diagnostic.message);
        for (const std::string& note : diagnostic.notes) out += "  " + note + "\n";
    }
    return out;
}

const std::string seem = "W0204 8: the dims of attention seem transposed: ";

} // namespace

TEST_CASE("attention in the order that it takes has no warning, nor have names that may mean several things") {
    CHECK(said_of("batch, length, heads, head", "batch, seq, kv_heads, kv") == "");
    CHECK(said_of("batch, left, right, head", "batch, left, right, head") == "");
    CHECK(said_of("batch, kv, head, left", "batch, kv, head, left") == "");
    CHECK(said_of("batch, kv_heads, heads, head", "batch, kv_heads, heads, head") == ""); // who knows
}

TEST_CASE("heads where the length is expected are said once, with all operands") {
    CHECK(said_of("batch, heads, length, head", "batch, kv_heads, seq, head") ==
          seem + "dim 1 of 'q' is called 'heads', and the length is expected there\n"
                 "  dim 1 of 'k' is called 'kv_heads', and the length is expected there\n"
                 "  dim 1 of 'v' is called 'kv_heads', and the length is expected there\n");
    CHECK(said_of("batch, left, heads, head", "batch, left, length, head") ==
          seem + "dim 2 of 'k' is called 'length', and heads are expected there\n"
                 "  dim 2 of 'v' is called 'length', and heads are expected there\n");
}

TEST_CASE("of a repeated block it is said once, and an operand that is transposed is in order") {
    constexpr const char* text = R"(model: m
axes: {batch: 4, length: 4, heads: 4, head: 4}
inputs: {x: {axes: [batch, heads, length, head]}}
modules:
  block:
    inputs: [x]
    graph:
      - y: {attention: [x, x, x]}
    outputs: [y]
  right:
    inputs: [x]
    graph:
      - t: {transpose: x, permutation: [0, 2, 1, 3]}
      - a: {attention: [t, t, t]}
      - y: {transpose: a, permutation: [0, 2, 1, 3]}
    outputs: [y]
graph:
  - x: {repeat: BLOCK, times: 3, in: x}
outputs: [x]
)";
    for (const std::string block : {"block", "right"}) {
        std::string model = text;
        model.replace(model.find("BLOCK"), 5, block);
        const Built built = build_text(model);
        REQUIRE(built.graph.has_value());
        Diagnostics diagnostics;
        warn_of_attention_dims(*built.graph, diagnostics);
        CHECK(diagnostics.all().size() == (block == "block" ? 1 : 0));
    }
}

} // namespace shard
