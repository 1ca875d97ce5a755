// Moves that undo each other.
#include "importer/program/import_program.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

// The entries of the model of a slice of two values that are put together along dim 1.
std::string sliced(const std::string& range, const std::string& type) {
    Sources sources;
    const int file = sources.add(
        "p.mlir",
        fmt::format("func.func @main(%a: tensor<4x3xf32> loc(\"a\"), %b: tensor<4x5xf32> loc(\"b\")) -> {0} {{\n"
                    "  %0 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<4x3xf32>, tensor<4x5xf32>) -> "
                    "tensor<4x8xf32>\n"
                    "  %1 = stablehlo.slice %0 [{1}] : (tensor<4x8xf32>) -> {0}\n"
                    "  %2 = stablehlo.negate %1 : {0}\n  return %2 : {0}\n}}\n",
                    type, range));
    Diagnostics diagnostics;
    const std::optional<ImportedProgram> program = import_program(sources, file, {}, diagnostics);
    if (!program) return diagnostics.all().at(0).message;
    const size_t begin = program->model.find("graph:\n");
    return program->model.substr(begin, program->model.find("outputs:") - begin);
}

} // namespace

TEST_CASE("a slice of values that were put together is one of the value that it lies in") {
    CHECK(sliced("0:4, 0:3", "tensor<4x3xf32>") == "graph:\n  - result: {neg: a}\n");
    CHECK(sliced("0:4, 3:8", "tensor<4x5xf32>") == "graph:\n  - result: {neg: b}\n");
    CHECK(sliced("0:4, 4:6", "tensor<4x2xf32>") ==
          "graph:\n  - slice: {slice: b, dim: [1], start: [1], limit: [3]}\n  - result: {neg: slice}\n");
    CHECK(sliced("0:4, 0:3] {mhlo.frontend_attributes = {a = \"0\"}} : (tensor<4x8xf32>) -> tensor<4x3xf32>\n"
                 "  %unread = stablehlo.slice %0 [0:4, 0:3",
                 "tensor<4x3xf32>") == "graph:\n  - result: {neg: a}\n"); // attributes behind the ranges
    for (const std::string range : {"0:4, 2:4", "0:4, 3:7:2", "1:3, 3:5"}) {
        CAPTURE(range);
        CHECK(sliced(range, "tensor<" + std::string(range[0] == '1' ? "2" : "4") + "x2xf32>")
                  .find("{concatenate: [a, b]") != std::string::npos);
    }
}

TEST_CASE("values without elements that are put together have none") {
    Sources sources;
    const int file = sources.add(
        "p.mlir",
        "func.func @main(%a: tensor<1x3xf32> loc(\"a\")) -> tensor<2x3xf32> {\n"
        "  %0 = stablehlo.slice %a [0:1, 0:0] : (tensor<1x3xf32>) -> tensor<1x0xf32>\n"
        "  %1 = stablehlo.concatenate %0, %0, dim = 0 : (tensor<1x0xf32>, tensor<1x0xf32>) -> tensor<2x0xf32>\n"
        "  %2 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>\n"
        "  %3 = stablehlo.concatenate %1, %2, dim = 1 : (tensor<2x0xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>\n"
        "  return %3 : tensor<2x3xf32>\n}\n");
    Diagnostics diagnostics;
    const std::optional<ImportedProgram> program = import_program(sources, file, {}, diagnostics);
    REQUIRE(program);
    CHECK(program->model.find("{concatenate: [a, a], dim: 0}") != std::string::npos);
    CHECK(program->model.find("shape: [2, 0]") == std::string::npos);
}

} // namespace shard
