// Lookups and what is combined into tables, through all passes.
#include "exporter/target/target.h"
#include "planner/pipeline/pipeline.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>

namespace shard {

namespace {

// Device d has a half of the dim that the rule names.
std::string exported(const std::string& entry, const std::string& rule = "a: d") {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", "model: m\naxes: {a: 4, b: 8}\ninputs:\n  x: {axes: [a, b]}\n"
                                                   "  u: {axes: [a, 3]}\n"
                                                   "  t: {axes: [a, b, 6]}\n  i: {axes: [a, 3], dtype: i32}\n"
                                                   "  n: {axes: [b], dtype: i32}\n  k: {axes: [6, a, 3], dtype: i32}\n"
                                                   "  w: {axes: [a, 3], dtype: u32}\n  h: {axes: [a, 3], dtype: bf16}\n"
                                                   "graph:\n  - y: {" +
                                                       entry + "}\noutputs: [y]\n");
    request.layout_file = sources.add("layout.yaml", "mesh: {d: 2}\nrules: [{" + rule + "}]\n");
    const Compilation compilation = compile(sources, request);
    INFO(text_of(sources, compilation.diagnostics));
    REQUIRE(compilation.plan);
    Diagnostics diagnostics;
    const std::optional<std::string> text = find_target("jax")->write(*compilation.plan, diagnostics);
    REQUIRE(text);
    return *text;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("export --to jax: indices that stand where the table has them are taken along an axis") {
    const std::string text = exported("take_along_axis: [x, i], dim: b");
    CHECK(has(text, "y = jnp.take_along_axis(x, jnp.clip(i, 0, 7), axis=1, mode=\"fill\", fill_value=0)\n"));
    CHECK(has(exported("take_along_axis: [x, i], dim: b", "b: d"), "own_rows(i, 8, 4 * lax.axis_index(\"d\"), 4)"));
}

TEST_CASE("export --to jax: dims that a table and its indices share are mapped, the first outermost") {
    const std::string one = exported("gather: [t, i], dim: 1, batch: [[0, 0]]");
    CHECK(has(one, "\nfrom functools import partial\n\nimport jax\n"));
    CHECK(has(one, "    rows = jnp.clip(i, 0, 7)\n\n"
                   "    @partial(jax.vmap, in_axes=(0, 0), out_axes=0)\n"
                   "    def find(table, rows):\n"
                   "        return jnp.take(table, rows, axis=0, mode=\"fill\", fill_value=0)\n\n"
                   "    y = find(t, rows)\n"));
    // Of t (a, b, 6) and k (6, a, 3), 6 and a are shared: the inner map sees t (a, b) and k (a, 3), and what is found
    // (a, 3).
    CHECK(has(exported("gather: [t, k], dim: 1, batch: [[2, 0], [0, 1]]"),
              "    @partial(jax.vmap, in_axes=(2, 0), out_axes=2)\n"
              "    @partial(jax.vmap, in_axes=(0, 0), out_axes=0)\n"
              "    def find(table, rows):\n"
              "        return jnp.take(table, rows, axis=0, mode=\"fill\", fill_value=0)\n"));
    CHECK_FALSE(has(exported("gather: [x, n], dim: 0"), "partial"));
}

TEST_CASE("export --to jax: constants are filled in, zeros as such but for the one with a sign") {
    CHECK(has(exported("constant: 1.5, shape: [a, b]"), "jnp.full((4, 8), 1.5, jnp.float32)"));
    CHECK(has(exported("constant: 0, shape: [a, b]"), "jnp.zeros((4, 8), jnp.float32)"));
    CHECK(has(exported("constant: -0.0, shape: [a, b]"), "jnp.full((4, 8), -0.0, jnp.float32)"));
    CHECK(has(exported("constant: 2147483648, shape: [a, b], dtype: u32"), "jnp.uint32(2147483648)"));
    CHECK_FALSE(has(exported("constant: 2147483647, shape: [a, b], dtype: u32"), "jnp.uint32(2147483647)"));
}

TEST_CASE("export --to jax: what is combined into a table begins with what combining leaves alone") {
    CHECK(has(exported("scatter_max: [n, x], dim: 1, size: 5"),
              "    table = jnp.full((2, 5), -jnp.inf, jnp.float32)\n"
              "    rows = jnp.clip(n, 0, 4)\n    y = table.at[:, rows].max(x, mode=\"drop\")\n"));
    CHECK(has(exported("scatter_add: [n, x], dim: 1, size: 5"), "y = table.at[:, rows].add(x, mode=\"drop\")\n"));
    CHECK(has(exported("scatter_min: [i, w], dim: 1, size: 5, batch: [[0, 0]]"),
              "    @partial(jax.vmap, in_axes=(0, 0), out_axes=0)\n"
              "    def combine(rows, updates):\n"
              "        table = jnp.full((5,), jnp.iinfo(jnp.uint32).max, jnp.uint32)\n"
              "        return table.at[rows].min(updates, mode=\"drop\")\n\n"
              "    y = combine(rows, w)\n"));
    CHECK(has(exported("scatter_add: [i, h], dim: 1, size: 5, batch: [[0, 0]]"),
              "        table = jnp.zeros((5,), jnp.float32)\n"
              "        return table.at[rows].add(updates, mode=\"drop\").astype(jnp.bfloat16)\n"));
}

TEST_CASE("export --to jax: starts are of one type, whatever type the model has them of") {
    Sources sources;
    PlanRequest request;
    request.model_file =
        sources.add("model.yaml", "model: m\ninputs:\n  x: {shape: [8, 16]}\n  u: {shape: [2, 4]}\n"
                                  "  i: {shape: [], dtype: i32}\n  j: {shape: [], dtype: i64}\ngraph:\n"
                                  "  - y: {dynamic_update_slice: [x, u, i, j], dim: [0, 1]}\n"
                                  "  - z: {dynamic_slice: [x, i, j], dim: [0, 1], size: [2, 4]}\noutputs: [y, z]\n");
    request.layout_file = sources.add("layout.yaml", "mesh: {d: 2}\n");
    const Compilation compilation = compile(sources, request);
    INFO(text_of(sources, compilation.diagnostics));
    REQUIRE(compilation.plan);
    Diagnostics diagnostics;
    const std::optional<std::string> text = find_target("jax")->write(*compilation.plan, diagnostics);
    REQUIRE(text);
    const std::string starts = "(jnp.clip(i, 0, 6), jnp.clip(j, 0, 12).astype(jnp.int32))";
    const size_t first = text->find(starts);
    REQUIRE(first != std::string::npos);
    CHECK(text->find(starts, first + 1) != std::string::npos);
}

} // namespace shard
