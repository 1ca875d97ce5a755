// Calls of what is not in the program.
#include "importer/program/import_program.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

// The first thing that is said of a program that calls a target and returns what it gives.
Diagnostic refusal_of(const std::string& target) {
    Sources sources;
    const int file =
        sources.add("p.mlir", fmt::format("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{\n"
                                          "  %r = stablehlo.custom_call @{}(%x) : (tensor<4xf32>) -> tensor<4xf32> "
                                          "loc(\"jit(f)/g\"(\"/home/mel/model.py\":7:1))\n"
                                          "  return %r : tensor<4xf32>\n}}\n",
                                          target));
    Diagnostics diagnostics;
    ImportRequest request;
    request.folder = "/home/mel";
    CHECK(!import_program(sources, file, request, diagnostics));
    return diagnostics.all().at(0);
}

} // namespace

TEST_CASE("a call of what is not in the program is refused by what it does, at the line it is traced from") {
    for (const std::string target : {"lapack_spotrf_ffi", "cusolver_geqrf_ffi"})
        CHECK(refusal_of(target).message ==
              "a decomposition of matrices, or a solution of equations: '" + target + "'");
    CHECK(refusal_of("xla_ffi_python_cpu_callback").message.starts_with("a callback into Python, "));
    const Diagnostic other = refusal_of("mine");
    CHECK(other.message == "a call of 'mine', which is not part of the program");
    CHECK(other.notes == std::vector<std::string>{"traced from model.py:7"});
}

TEST_CASE("what is constrained twice is once, and a constraint of another kind stays") {
    const auto constraints = [](const std::string& second) {
        Sources sources;
        const int file =
            sources.add("p.mlir", "sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]>\n"
                                  "func.func @main(%a: tensor<4x4xf32> loc(\"a\")) -> tensor<4x4xf32> {\n"
                                  "  %0 = sdy.sharding_constraint %a <@mesh, [{\"x\"}, {}]> : tensor<4x4xf32>\n"
                                  "  %1 = sdy.sharding_constraint %0 <@mesh, [{" +
                                      second + "}, {}]> : tensor<4x4xf32>\n  return %1 : tensor<4x4xf32>\n}\n");
        Diagnostics diagnostics;
        const std::optional<ImportedProgram> program = import_program(sources, file, {}, diagnostics);
        REQUIRE(program.has_value());
        size_t count = 0;
        for (size_t at = 0; (at = program->model.find("{constrain: ", at)) != std::string::npos; ++at) ++count;
        return count;
    };
    CHECK(constraints("\"x\"") == 1);
    CHECK(constraints("\"y\"") == 2);
}

} // namespace shard
