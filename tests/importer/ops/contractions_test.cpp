// Contractions that contract nothing.
#include "importer/program/import_program.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

// The entries of the model of one dot_general, and of a transpose behind it.
std::string contracted(const std::string& a, const std::string& b, const std::string& dims, const std::string& type,
                       const std::string& permutation, const std::string& turned) {
    Sources sources;
    const int file = sources.add(
        "p.mlir",
        fmt::format("func.func @main(%a: tensor<{0}> loc(\"a\"), %b: tensor<{1}> loc(\"b\")) -> tensor<{5}> {{\n"
                    "  %0 = stablehlo.dot_general %a, %b, {2} : (tensor<{0}>, tensor<{1}>) -> tensor<{3}>\n"
                    "  %1 = stablehlo.transpose %0, dims = [{4}] : (tensor<{3}>) -> tensor<{5}>\n"
                    "  %2 = stablehlo.negate %1 : tensor<{5}>\n  return %2 : tensor<{5}>\n}}\n",
                    a, b, dims, type, permutation, turned));
    Diagnostics diagnostics;
    const std::optional<ImportedProgram> program = import_program(sources, file, {}, diagnostics);
    if (!program) return diagnostics.all().at(0).message;
    const size_t begin = program->model.find("graph:\n") + 7;
    return program->model.substr(begin, program->model.find("outputs:") - begin);
}

} // namespace

TEST_CASE("a contraction that sums nothing is a scale, with the dims of what it scales") {
    // jnp.einsum("btd,d->btd", x, scale): d first, and turned back.
    CHECK(contracted("4xf32", "2x3x4xf32", "batching_dims = [0] x [2]", "4x2x3xf32", "1, 2, 0", "2x3x4xf32") ==
          "  - mul: {mul: [a, b]}\n  - result: {neg: mul}\n");
    CHECK(contracted("2x3x4xf32", "3xf32", "batching_dims = [1] x [0]", "3x2x4xf32", "1, 0, 2", "2x3x4xf32") ==
          "  - reshape: {reshape: b, shape: [3, 1]}\n  - mul: {mul: [a, reshape]}\n  - result: {neg: mul}\n");
    // By another order of dims.
    CHECK(contracted("2x3x4xf32", "4x3xf32", "batching_dims = [1, 2] x [1, 0]", "3x4x2xf32", "2, 0, 1", "2x3x4xf32") ==
          "  - transpose: {transpose: b, permutation: [1, 0]}\n  - mul: {mul: [a, transpose]}\n"
          "  - result: {neg: mul}\n");
}

TEST_CASE("a product of all with all stays an einsum") {
    CHECK(contracted("2xf32", "3xf32", "contracting_dims = [] x []", "2x3xf32", "1, 0", "3x2xf32").find("{einsum: ") !=
          std::string::npos);
}

} // namespace shard
