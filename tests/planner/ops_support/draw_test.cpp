// What draws as jax.random: by a key that is written and by one that is computed, the same on every layout.
#include "tests/support/interpreter.h"
#include "tests/support/model_harness.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {
namespace {

constexpr const char* draws[] = {
    "bernoulli: [batch, embed], probability: 0.25",
    "uniform: [batch, embed]",
    "uniform: [batch, embed], low: -2, high: 3",
    "normal: [batch, embed]",
    "truncated_normal: [batch, embed], low: -2, high: 1.5",
    "randint: [batch, embed], low: -5, high: 100",
    "random_bits: [batch, embed]",
};

std::string model(const std::string& draw) {
    return fmt::format("model: m\naxes: {{batch: 8, embed: 4}}\n"
                       "inputs: {{x: {{axes: [batch, embed]}}, key: {{shape: [2], dtype: u32, init: {{randint: {{low: "
                       "0, high: 9}}}}}}}}\n"
                       "graph:\n  - own: {{fold_in: [key, 3]}}\n  - long: {{concatenate: [own, key], dim: 0}}\n  - z: "
                       "{{{}}}\n  - f: {{cast: z, dtype: f32}}\n"
                       "  - y: {{mul: [x, f]}}\noutputs: [y, z]\n",
                       draw);
}

std::string proven(const std::string& text, const std::string& layout) {
    return fmt::format("{}", fmt::join(prove(text, layout, {}), "\n"));
}

std::string problems(const std::string& op) {
    return build_text("model: m\ninputs: {x: {shape: [4]}, n: {shape: [], dtype: i32}, "
                      "key: {shape: [2], dtype: u32}, long: {shape: [4], dtype: u32}}\ngraph:\n  - y: {" +
                      op + "}\noutputs: [y, x, n, key, long]\n")
        .problems();
}

} // namespace

TEST_CASE("what draws gives every layout parts of one array") {
    for (const char* draw : draws)
        for (const char* key :
             {"in: own", "in: long", "in: key, bits: legacy", "key: 3", "key: [1, 2], place: [4], bits: legacy"})
            for (const char* layout : {"mesh: {data: 2, model: 2}\nrules: [{batch: data}, {embed: model}]\n",
                                       "mesh: {data: 4}\nrules: [{batch: data}]\n"}) {
                if (std::string_view(draw).starts_with("randint") && std::string_view(key) == "in: long") continue;
                INFO(draw, " ", key);
                CHECK(proven(model(fmt::format("{}, {}", draw, key)), layout) == "");
            }
}

TEST_CASE("a key that is computed is the same in every trip of a loop, and one that is written is another") {
    const auto masks = [](const char* key) {
        Built built = build_text(fmt::format(R"(model: m
inputs: {{x: {{shape: [16]}}, key: {{shape: [2], dtype: u32}}}}
modules:
  block:
    inputs: [x, key]
    graph:
      - drawn: {{uniform: [16], {}}}
      - y: {{sub: [drawn, x]}}
    outputs: [y]
graph:
  - y: {{repeat: block, times: 2, in: [x, key], scan: true}}
outputs: [y]
)",
                                             key));
        INFO(built.problems());
        REQUIRE(built.graph.has_value());
        return interpret(*built.graph, {{"x", {{16}, std::vector<double>(16, 0.0)}}, {"key", {{2}, {1, 2}}}})
            .at("y")
            .values;
    };
    for (const double difference : masks("in: key")) CHECK(difference == 0);
    CHECK(masks("key: 5")[0] != 0);
}

TEST_CASE("what draws says which keys it takes") {
    CHECK(problems("uniform: [4], in: key") == "");
    CHECK(problems("random_bits: [4], key: [1, 2], in: n") == "");
    CHECK(problems("uniform: [4]") ==
          "E0226 4: 'uniform' has no key | a seed, or two 32-bit words, key: [0, 42]; or one "
          "that is computed, in: key");
    CHECK(problems("normal: [4], in: key, key: 3") ==
          "E0226 4: 'normal' has a key that is computed, and `key` is of one that is written | fold numbers into a "
          "computed key by fold_in");
    CHECK(problems("normal: [4], key: [1, 2, 3]") ==
          "E0226 4: `key` of 'normal' is no key | a seed, or two 32-bit words: key: [0, 42]");
    CHECK(problems("normal: [4], in: x, key: 3") ==
          "E0224 4: 'normal' needs whole numbers to fold into its key, and x is "
          "f32 | convert it first: {cast: x, dtype: ...}");
    CHECK(problems("bernoulli: [4], in: key, probability: 2") == "E0226 4: 2 is no probability | a number from 0 to 1");
    CHECK(problems("uniform: [4], in: key, low: 1, high: 1") ==
          "E0226 4: 'uniform' draws nothing from 1 to 1 | low below high, and what is between them a number of f32");
    CHECK(problems("uniform: [4], in: key, dtype: i32") ==
          "E0224 4: 'uniform' draws no i32 | a floating-point type, f32 unless said; and cast what is drawn");
    CHECK(problems("randint: [4], in: key, low: 0, high: 5, dtype: f32") ==
          "E0224 4: 'randint' draws no f32 | cast what is drawn");
    CHECK(problems("randint: [4], in: key, low: 0, high: 3000000000") ==
          "E0226 4: 'randint' draws no i32 from 0 to below 3000000000 | low below high, both of 32 bits");
    CHECK(problems("randint: [4], in: key, low: -2147483648, high: 2147483648") == "");
    CHECK(
        problems("uniform: [4], in: key, low: -3.0e+38, high: 3.0e+38") ==
        "E0226 4: 'uniform' draws nothing from -3e+38 to 3e+38 | low below high, and what is between them a number of "
        "f32");
    CHECK(problems("random_bits: [4], in: [n, n]") ==
          "E0226 4: 'random_bits' takes a key, or its words, u32 | in: key, where key is u32 (2), of rbg (4)");
    CHECK(problems("random_bits: [4], in: [n, n, n]") == problems("random_bits: [4], in: [n, n]"));
    CHECK(problems("uniform: [4], in: long") == "");
    CHECK(problems("uniform: [4], in: long, bits: legacy") ==
          "E0226 4: `bits` of 'uniform' is no layout of random bits under its key | partitionable or legacy of a key "
          "of two words, rbg of one of four");
    CHECK(problems("uniform: [4], in: key, bits: rbg") == problems("uniform: [4], in: long, bits: legacy"));
    CHECK(problems("randint: [4], in: long, low: 0, high: 5") ==
          "E0226 4: 'randint' draws under keys of two words, and this has four, of rbg | make whole numbers of "
          "random_bits");
}

} // namespace shard
