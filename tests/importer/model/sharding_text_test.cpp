// Shardings of a program that its arrays cannot have.
#include "importer/program/import_program.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

std::string layout_of(const std::string& argument, const std::string& result) {
    Sources sources;
    const int file = sources.add(
        "p.mlir", fmt::format("sdy.mesh @mesh = <[\"a\"=2, \"b\"=2]>\n"
                              "func.func @main(%x: tensor<4x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{}]>}} "
                              "loc(\"x\")) -> (tensor<4x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{}]>}}) {{\n"
                              "  %0 = stablehlo.tanh %x : tensor<4x4xf32>\n  return %0 : tensor<4x4xf32>\n}}\n",
                              argument, result));
    Diagnostics diagnostics;
    const std::optional<ImportedProgram> program = import_program(sources, file, {}, diagnostics);
    return program ? program->layout : diagnostics.all().at(0).code + " " + diagnostics.all().at(0).message;
}

} // namespace

TEST_CASE("a sharding has an entry for each dim and each axis once, or is refused") {
    CHECK(layout_of("{\"a\"}, {\"b\"}", "{\"a\", \"b\"}, {}") ==
          "mesh: {a: 2, b: 2}\ninputs:\n  x: [a, b]\noutputs:\n  result: [[a, b], ~]\n");
    CHECK(layout_of("{\"a\"}", "{}, {}") == "E0804 a sharding of 1 dims for 'x', which has 2");
    CHECK(layout_of("{}, {}", "{}, {}, {\"a\"}") == "E0804 a sharding of 3 dims for 'result', which has 2");
    CHECK(layout_of("{\"a\", \"a\"}, {}", "{}, {}") == "E0804 a sharding that a layout cannot say");
    CHECK(layout_of("{\"a\"}, {\"a\"}", "{}, {}") == "E0804 a sharding that a layout cannot say");
}

} // namespace shard
