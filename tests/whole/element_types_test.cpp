// Models in every element type: what a mesh computes is what one device computes, and what the definition says.
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

TEST_CASE("element types: products, sums, orders and lookups of every type, split") {
    for (const DType dtype : all_dtypes()) {
        if (dtype == DType::boolean) continue;
        CAPTURE(name(dtype));
        ProofOptions options;
        options.small_integers = true;
        CHECK(prove(fmt::format(R"(model: m
axes: {{a: 8, b: 4, c: 4}}
inputs:
  x: {{axes: [a, b], dtype: {0}}}
  w: {{axes: [b, c], dtype: {0}}}
  i: {{axes: [a], dtype: i16, init: {{randint: {{low: 0, high: 4}}}}}}
graph:
  - y: {{{1}}}
  - s: {{reduce_sum: x, dim: b}}
  - most: {{reduce_max: x, dim: b}}
  - sorted: {{sort: x, dim: b}}
  - runs: {{cumsum: x, dim: a}}
  - rows: {{gather: [w, i]}}
  - back: {{scatter_add: [i, rows], size: b}}
  - wide: {{cast: y, dtype: f64}}
outputs: [y, s, most, sorted, runs, rows, back, wide]
)",
                                name(dtype), is_floating(dtype) ? "dot: [x, w]" : "mul: [x, x]"),
                    "mesh: {d: 2, m: 2}\nrules: [{a: d}, {b: m}, {c: ~}]\n", options) == std::vector<std::string>{});
    }
}

} // namespace shard
