#include "tests/support/prove.h"

#include "planner/lower/lowered_text.h"

#include <doctest/doctest.h>

namespace shard {

TEST_CASE("arithmetic in an initializer is a number in a manual program, which has no named axes") {
    const std::string mesh = "mesh: {data: 2, model: 4}\n";
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", R"(model: initialized
axes: {batch: 8, embed: 16, hidden: 32}
inputs:
  x: {axes: [batch, embed], init: {normal: {stddev: hidden / 16}}}
  row: {shape: [], dtype: i32, init: {randint: {low: batch / 8, high: embed - 4}}}
params:
  w:
    axes: [embed, hidden]
    init: {variance_scaling: {scale: hidden / 16, mode: fan_in, distribution: normal, in_axis: [2 - 2]}}
graph:
  - y: {dot: [x, w]}
  - y: {mul: [y, {cast: row, dtype: f32}]}
outputs: [y]
)");
    request.layout_file = sources.add("layout.yaml", mesh + "rules: [{batch: data}, {hidden: model}]\n");
    const Compilation compilation = compile(sources, request);
    INFO(text_of(sources, compilation.diagnostics));
    REQUIRE(compilation.plan.has_value());
    Diagnostics diagnostics;
    const std::string text = lowered_text(compilation, diagnostics).value_or(text_of(sources, diagnostics));
    CAPTURE(text);
    CHECK(text.find("{normal: {stddev: 2}, key:") != std::string::npos);
    CHECK(text.find("{randint: {low: 1, high: 12}, key:") != std::string::npos);
    CHECK(text.find("{scale: 2, mode: fan_in, distribution: normal, in_axis: [0]}") != std::string::npos);
    CHECK(prove(text, mesh) == std::vector<std::string>{});
}

} // namespace shard
