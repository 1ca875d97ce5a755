// Which axis of a mesh a program's number of a device stands for.
#include "importer/program/import_program.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

// What is counted along an axis with so many devices behind each of its places.
std::string axis_of(int behind) {
    Sources sources;
    const std::string text = fmt::format(R"(module {{
  sdy.mesh @mesh = <["row"=2, "column"=2]>
  func.func @main(%x: tensor<4x8xui32>) -> tensor<4x8xui32> {{
    %r = sdy.manual_computation(%x) in_shardings=[<@mesh, [{{"row"}}, {{"column"}}]>] out_shardings=[<@mesh, [{{"row"}}, {{"column"}}]>] manual_axes={{"row", "column"}} (%own: tensor<2x4xui32>) {{
      %behind = stablehlo.constant dense<{}> : tensor<ui32>
      %size = stablehlo.constant dense<2> : tensor<ui32>
      %number = stablehlo.partition_id : tensor<ui32>
      %place = stablehlo.divide %number, %behind : tensor<ui32>
      %index = stablehlo.remainder %place, %size : tensor<ui32>
      %all = stablehlo.broadcast_in_dim %index, dims = [] : (tensor<ui32>) -> tensor<2x4xui32>
      %sum = stablehlo.add %own, %all : tensor<2x4xui32>
      sdy.return %sum : tensor<2x4xui32>
    }} : (tensor<4x8xui32>) -> tensor<4x8xui32>
    return %r : tensor<4x8xui32>
  }}
}}
)",
                                         behind);
    Diagnostics diagnostics;
    const std::optional<ImportedProgram> program =
        import_program(sources, sources.add("p.mlir", text), {}, diagnostics);
    if (!program) return diagnostics.all().at(0).message;
    const std::string_view key = "{axis_index: ";
    const size_t at = program->model.find(key);
    if (at == std::string::npos) return program->model;
    const size_t begin = at + key.size();
    return program->model.substr(begin, program->model.find_first_of(",}", begin) - begin);
}

} // namespace

TEST_CASE("axes of one size are told apart by the devices behind them") {
    CHECK(axis_of(2) == "row");
    CHECK(axis_of(1) == "column");
}

} // namespace shard
