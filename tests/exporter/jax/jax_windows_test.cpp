// Convolutions and poolings, through all passes.
#include "exporter/target/target.h"
#include "planner/pipeline/pipeline.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>

namespace shard {

namespace {

std::string exported(const std::string& target, const std::string& entry, const std::string& dtype = "f32") {
    Sources sources;
    PlanRequest request;
    request.model_file =
        sources.add("model.yaml", "model: m\naxes: {a: 4, b: 8}\ninputs:\n  x: {axes: [a, b, 6], dtype: " + dtype +
                                      "}\n  w: {axes: [3, 6, 2], dtype: " + dtype +
                                      "}\n  g: {axes: [a, b, 6]}\n  k: {axes: [3, b, 6]}\ngraph:\n" + "  - y: {" +
                                      entry + "}\noutputs: [y]\n");
    request.layout_file = sources.add("layout.yaml", "mesh: {d: 2}\nrules: [{a: d}]\n");
    const Compilation compilation = compile(sources, request);
    REQUIRE(compilation.plan);
    Diagnostics diagnostics;
    const std::optional<std::string> text = find_target(target)->write(*compilation.plan, diagnostics);
    return text ? *text : text_of(sources, diagnostics);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("export --to jax: convolutions, with the dims and borders that the plan has") {
    CHECK(has(exported("jax", "conv: [x, w], padding: same, strides: 3"),
              "y = lax.conv_general_dilated(\n        x,\n        w,\n        window_strides=(3,),\n"
              "        padding=((0, 1),),\n        dimension_numbers=(\"NHC\", \"HIO\", \"NHC\"),\n    )\n"));
    const std::string all =
        exported("jax", "conv: [x, w], low: 2, dilation: 2, input_dilation: 3, reverse: true, dims: \"nwi,wio->own\"");
    CHECK(has(all, "lax.rev(w, (0,))"));
    CHECK(has(all, "lhs_dilation=(3,)"));
    CHECK(has(all, "rhs_dilation=(2,)"));
    CHECK(has(all, "(\"NHC\", \"HIO\", \"CHN\")"));
    // Asked for a result in f32, XLA:GPU makes f32 of the operands.
    const std::string narrow = exported("jax", "conv: [x, w]", "bf16");
    CHECK(has(narrow, "lax.conv_general_dilated("));
    CHECK_FALSE(has(narrow, "preferred_element_type"));
    std::string line = exported("stablehlo", "conv: [x, w]", "bf16");
    line.erase(0, line.find("stablehlo.convolution"));
    line.erase(line.find('\n'));
    CHECK(line.ends_with("xbf16>"));
    CHECK(has(exported("jax", "conv: [x, k], dims: \"nwi,owi->nwo\", padding: same"), "(\"NHC\", \"OHI\", \"NHC\")"));
}

TEST_CASE("export --to jax: poolings, and where a maximum came from") {
    CHECK(has(exported("jax", "max_pool: x, window: 3, strides: 2"),
              "y = lax.reduce_window(\n        x,\n        jnp.float32(-jnp.inf),\n        lax.max,\n"
              "        window_dimensions=(1, 3, 1),\n        window_strides=(1, 2, 1),\n"
              "        padding=((0, 0), (0, -1), (0, 0)),\n    )\n"));
    CHECK(has(exported("jax", "sum_pool: x, window: 2, dilation: 2, input_dilation: 2", "bf16"),
              "base_dilation=(1, 2, 1),\n        window_dilation=(1, 2, 1),\n    ).astype(jnp.bfloat16)\n"));
    const std::string selected = exported("jax", "max_pool_gradient: [x, g], window: 1");
    CHECK(has(selected, "\ndef select_windows(x, given, combine, window, strides, padding, start, shape):\n"));
    CHECK_FALSE(has(exported("jax", "max_pool: x, window: 2"), "def select_windows("));
}

TEST_CASE("export --to stablehlo: convolutions and poolings are its own ops") {
    CHECK(
        has(exported("stablehlo", "conv: [x, w], padding: same, strides: 3"),
            "stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [3], pad = "
            "[[0, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, "
            "feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision "
            "HIGHEST>]} : (tensor<2x8x6xf32>, tensor<3x6x2xf32>) -> tensor<2x3x2xf32>"));
    const std::string pooled = exported("stablehlo", "min_pool: x, window: 3, strides: 2, low: 1");
    CHECK(has(pooled, "\"stablehlo.reduce_window\"(%x, %"));
    CHECK(has(pooled,
              "padding = dense<[[0, 0], [1, 0], [0, 0]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, "
              "window_dimensions = array<i64: 1, 3, 1>, window_strides = array<i64: 1, 2, 1>"));
    const std::string selected = exported("stablehlo", "max_pool_gradient: [x, g], window: 1");
    CHECK(has(selected, "\"stablehlo.select_and_scatter\"(%x, %g, %"));
    CHECK(has(selected, "stablehlo.compare GE,"));
    CHECK(has(selected, "}, {\n"));
}

} // namespace shard
