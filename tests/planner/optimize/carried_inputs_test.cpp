// Loops that write over an input, which `updates` replaces by what the loop leaves of it: a cache that a scan carries.
#include "planner/pipeline/pipeline.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

// c is carried over four layers; `after`: entries behind the loop.
std::string model(const std::string& after, const std::string& outputs, const std::string& updates,
                  const std::string& init = "c") {
    return fmt::format(R"(model: cache
axes: {{n: 64, layers: 4, e: 4}}
inputs: {{x: {{axes: [e], init: ones}}}}
variables:
  c: {{axes: [n, e], init: normal}}
  d: {{axes: [n, e], init: normal}}
modules:
  block:
    inputs: [x, c, i]
    params: {{w: {{axes: [e], init: normal}}}}
    graph:
      - x: {{add: [x, {{mul: [x, w]}}]}}
      - c: {{dynamic_update_slice: [c, {{reshape: x, shape: [1, e]}}, i], dim: [0]}}
      - i: {{add: [i, 1]}}
    outputs: [x, c, i]
graph:
  - i: {{constant: 0, dtype: i32}}
  - x, c2, i2: {{repeat: block, times: layers, in: [x, {}, i], scan: true, axis: layers}}
{}outputs: [{}]
updates: {{{}}}
)",
                       init, after, outputs, updates);
}

const std::string layout = "mesh: {a: 2}\nrules: [{n: a}, {e: ~}, {layers: ~}]\n";

// Buffers besides the variables that have their size.
int copies(const std::string& text) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", text);
    request.layout_file = sources.add("layout.yaml", layout);
    const Compilation compilation = compile(sources, request);
    REQUIRE(compilation.plan);
    int found = 0;
    for (const Buffer& buffer : compilation.plan->buffers)
        found += buffer.role != Role::variable && !buffer.view && buffer.bytes == 32 * 4 * 4;
    return found;
}

std::string proved(const std::string& text) {
    ProofOptions options;
    options.steps = 3;
    return fmt::format("{}", fmt::join(prove(text, layout, options), "\n"));
}

} // namespace

TEST_CASE("a loop carries an input in its own bytes where an update puts there what the loop leaves") {
    const std::string text = model("", "x", "c: c2");
    CHECK(copies(text) == 0);
    CHECK(proved(text) == "");
    // What it leaves may be read, and given too.
    const std::string read = model("  - s: {reduce_sum: c2, dims: [0, 1]}\n", "x, s, c2", "c: c2");
    CHECK(proved(read) == "");
}

TEST_CASE("a loop copies an input that is read or given afterwards, or updated by something else") {
    for (const std::string& text : {
             model("  - s: {reduce_sum: c, dims: [0, 1]}\n", "x, s", "c: c2"),
             model("  - v: {reshape: c, shape: [e, n]}\n", "x, v", "c: c2"),
             model("  - c3: {add: [c2, 1]}\n", "x", "c: c3"),
             model("", "x", "d: c2"),
             model("", "x, c2", "c: d"),
             model("", "x", "c: d, d: c2"),
         }) {
        CAPTURE(text);
        CHECK(copies(text) > 0);
        CHECK(proved(text) == "");
    }
}

} // namespace shard
