// Contractions of rows in groups, through all passes, as JAX and StableHLO have them.
#include "exporter/target/target.h"
#include "planner/pipeline/pipeline.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>

namespace shard {

namespace {

std::string exported(const std::string& target, const std::string& entry) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add(
        "model.yaml", "model: m\naxes: {rows: 8, k: 4, n: 6, groups: 4, parts: 2}\ninputs:\n  x: {axes: [rows, k]}\n"
                      "  w: {axes: [groups, k, n]}\n  s: {axes: [groups], dtype: i32}\n"
                      "  b: {axes: [parts, rows, k], dtype: bf16}\n  v: {axes: [groups, n, k], dtype: bf16}\n"
                      "  c: {axes: [parts, groups], dtype: i32}\ngraph:\n  - y: {" +
                          entry + "}\noutputs: [y]\n");
    request.layout_file = sources.add("layout.yaml", "mesh: {d: 2, e: 2}\nrules: [{rows: d}, {groups: e}]\n");
    const Compilation compilation = compile(sources, request);
    REQUIRE(compilation.plan);
    Diagnostics diagnostics;
    const std::optional<std::string> text = find_target(target)->write(*compilation.plan, diagnostics);
    return text ? *text : text_of(sources, diagnostics);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("export --to jax: rows in groups are ragged_dot of a device's own rows and groups") {
    const std::string plain = exported("jax", "ragged_dot: [x, w, s]");
    CHECK(has(plain, "own_groups("));
    CHECK(has(plain, "4 * lax.axis_index(\"d\")"));
    CHECK(has(plain, "2 * lax.axis_index(\"e\")"));
    CHECK(has(plain, "= ragged_rows("));
    CHECK(has(plain, "\ndef ragged_rows(x, w, begins, ends, wide):\n"));
    const std::string narrow = exported("jax", "ragged_dot: [b, v, c], transposed: true");
    CHECK(has(narrow, ".swapaxes(-1, -2)"));
    CHECK(has(narrow, ".astype(jnp.bfloat16)"));
    CHECK(has(exported("jax", "ragged_dot_gradient: [b, b, c], batch: 1"), "= ragged_groups("));
}

TEST_CASE("export --to stablehlo: rows in groups are one product over the groups, of rows that are zeros elsewhere") {
    const std::string plain = exported("stablehlo", "ragged_dot: [x, w, s]");
    CHECK(has(plain, "stablehlo.dot_general"));
    CHECK(has(plain, "contracting_dims = [1, 2] x [0, 1]"));
    CHECK(has(plain, "stablehlo.select"));
    CHECK(has(exported("stablehlo", "ragged_dot_gradient: [b, b, c], batch: 1"), "stablehlo.dot_general"));
}

} // namespace shard
