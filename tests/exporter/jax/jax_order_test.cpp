// Orders, running reductions and slices, through all passes.
#include "exporter/target/target.h"
#include "planner/pipeline/pipeline.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>

namespace shard {

namespace {

std::string exported(const std::string& graph) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add(
        "model.yaml", "model: m\naxes: {a: 4, b: 8}\ninputs: {x: {axes: [a, b]}}\ngraph:\n" + graph + "outputs: [y]\n");
    request.layout_file = sources.add("layout.yaml", "mesh: {d: 2}\nrules: [{a: d}]\n");
    const Compilation compilation = compile(sources, request);
    REQUIRE(compilation.plan);
    Diagnostics diagnostics;
    const std::optional<std::string> text = find_target("jax")->write(*compilation.plan, diagnostics);
    return text ? *text : text_of(sources, diagnostics);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("export --to jax: orders and running reductions") {
    const std::string sorted = exported("  - y: {argsort: x, dim: b, descending: true}\n");
    CHECK(has(sorted, "y = positions((x,), 1, True, 8)\n"));
    CHECK(has(sorted, "\ndef positions(keys, dim, descending, count):\n"));
    CHECK(has(exported("  - y: {cumsum: x, dim: b, reverse: true}\n"), "y = lax.cumsum(x, axis=1, reverse=True)\n"));
    const std::string linear = exported("  - y: {linear_recurrence: [x, x], dim: b}\n");
    CHECK(has(linear, "y = lax.associative_scan(\n        lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1]),\n"
                      "        (x, x),\n        axis=1,\n    )[1]\n"));
    CHECK_FALSE(has(exported("  - y: {cumsum: x, dim: b}\n"), "def positions("));
}

TEST_CASE("export --to jax: slices of any dim, and functions of sums") {
    CHECK(has(exported("  - y: {slice: x, dim: b, start: 2, limit: 6}\n"), "y = x[:, 2:6]\n"));
    CHECK(has(exported("  - y: {exp: {add: [x, x]}}\n"), "y = jnp.exp(x + x)\n"));
}

TEST_CASE("a value that is called as a function of the module keeps out of its way") {
    const std::string text = exported("  - positions: {argsort: x, dim: b}\n  - y: {argsort: positions, dim: b}\n");
    CHECK(has(text, "positions_2 = positions((x,), 1, False, 8)\n"));
    CHECK(has(text, "y = positions((positions_2,), 1, False, 8)\n"));
}

} // namespace shard
