// Draws under a key of rbg, whose four words are an input, through all passes. What the programs compute was compared with
// jax.lax.rng_bit_generator.
#include "exporter/target/target.h"
#include "planner/pipeline/pipeline.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>

namespace shard {

namespace {

std::string exported(const std::string& target) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add(
        "model.yaml", "model: m\naxes: {a: 8, b: 12}\ninputs: {key: {shape: [4], dtype: u32}, x: {axes: [a, b]}}\n"
                      "graph:\n  - y: {select: [{bernoulli: [a, b], in: key, probability: 0.5}, x, 0]}\n"
                      "  - s: {random_bits: [], in: key}\noutputs: [y, s]\n");
    request.layout_file = sources.add("layout.yaml", "mesh: {d: 2}\nrules: [{a: d}]\n");
    const Compilation compilation = compile(sources, request);
    REQUIRE(compilation.plan);
    Diagnostics diagnostics;
    const std::optional<std::string> text = find_target(target)->write(*compilation.plan, diagnostics);
    return text ? *text : text_of(sources, diagnostics);
}

size_t count_of(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

} // namespace

TEST_CASE("export --to stablehlo: a key of rbg draws by a function of its words and of a place") {
    const std::string text = exported("stablehlo");
    CAPTURE(text);
    CHECK(count_of(text, "call @rbg_bits_4x12(") == 1);
    CHECK(count_of(text, "call @rbg_bits(") == 1);
    // Ten rounds, of two products each, in two functions; the key goes on between them.
    CHECK(count_of(text, "dense<3528531795>") == 20);
    CHECK(count_of(text, "dense<3449720151>") == 20);
    CHECK(count_of(text, "dense<2654435769>") == 18);
    CHECK(count_of(text, "dense<3144134277>") == 18);
}

TEST_CASE("export --to jax: a key of rbg draws by a function of its words and of a place") {
    const std::string text = exported("jax");
    CAPTURE(text);
    CHECK(count_of(text, "def rbg_bits(") == 1);
    CHECK(count_of(text, "rbg_bits(") == 3);
    CHECK(count_of(text, "def bernoulli(") == 1);
    CHECK(count_of(text, "def threefry(") == 1); // that file's other draws
}

} // namespace shard
