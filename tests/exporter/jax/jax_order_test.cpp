// Orders, running reductions, slices and what has no form, through all passes.
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

TEST_CASE("export --to jax: lookups that share dims have no form, and it says so") {
    const std::string text = exported("  - i: {argsort: x, dim: b}\n  - y: {take_along_axis: [x, i], dim: b}\n");
    CHECK(has(text, "error[E0509]"));
    CHECK(has(text, "--to stablehlo writes them"));
}

} // namespace shard
