// Collectives outside of manual regions: of a shard_map over one device JAX leaves no region. (Those of regions: the
// recorded programs manual_region and manual_gradients.)
#include "importer/program/import_program.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

// The entries of a model of an op of %x, or the first thing that is said.
std::string model_of(const std::string& op, const std::string& attributes = "") {
    Sources sources;
    const int file = sources.add(
        "p.mlir", fmt::format("module @m {} {{\nfunc.func @main(%x: tensor<4xf32> loc(\"x\")) -> tensor<4xf32> {{\n"
                              "  {}\n  %r = stablehlo.negate %0 : tensor<4xf32>\n  return %r : tensor<4xf32>\n}}\n}}\n",
                              attributes, op));
    Diagnostics diagnostics;
    const std::optional<ImportedProgram> program = import_program(sources, file, {}, diagnostics);
    if (!program) return diagnostics.all().at(0).code + " " + diagnostics.all().at(0).message;
    const size_t begin = program->model.find("graph:\n") + 7;
    return program->model.substr(begin, program->model.find("outputs:") - begin);
}

std::string all_reduce(const std::string& groups) {
    return "%0 = \"stablehlo.all_reduce\"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, "
           "replica_groups = " +
           groups +
           ", use_global_device_ids}> ({\n  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
           "    %s = stablehlo.add %a, %b : tensor<f32>\n    stablehlo.return %s : tensor<f32>\n"
           "  }) : (tensor<4xf32>) -> tensor<4xf32>";
}

std::string permuted(const std::string& pairs) {
    return "%0 = \"stablehlo.collective_permute\"(%x) <{source_target_pairs = " + pairs +
           "}> : (tensor<4xf32>) -> tensor<4xf32>";
}

const std::string alone = "  - result: {neg: x}\n";

} // namespace

TEST_CASE("what one device makes of its own alone is that") {
    CHECK(model_of(all_reduce("dense<0> : tensor<1x1xi64>")) == alone);
    CHECK(model_of(all_reduce("dense<[[0], [1]]> : tensor<2x1xi64>")) == alone);
    CHECK(model_of(permuted("dense<0> : tensor<1x2xi64>")) == alone);
    CHECK(model_of("%i = stablehlo.partition_id : tensor<ui32>\n  %f = stablehlo.convert %i : (tensor<ui32>) -> "
                   "tensor<f32>\n  %w = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<4xf32>\n"
                   "  %0 = stablehlo.add %x, %w : tensor<4xf32>",
                   "attributes {mhlo.num_partitions = 1 : i32}") == alone);
}

TEST_CASE("several devices have a manual region, or are refused") {
    CHECK(model_of(all_reduce("dense<[[0, 1]]> : tensor<1x2xi64>")) ==
          "E0804 stablehlo.all_reduce outside of a manual region");
    CHECK(model_of(all_reduce("dense<> : tensor<0x0xi64>")) == "E0804 stablehlo.all_reduce outside of a manual region");
    CHECK(model_of(permuted("dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>")) ==
          "E0804 stablehlo.collective_permute outside of a manual region");
    CHECK(model_of(permuted("dense<[[0, 1]]> : tensor<1x2xi64>")).starts_with("E0804 "));
    CHECK(model_of("%i = stablehlo.partition_id : tensor<ui32>\n  %f = stablehlo.convert %i : (tensor<ui32>) -> "
                   "tensor<f32>\n  %0 = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<4xf32>",
                   "attributes {mhlo.num_partitions = 8 : i32}") ==
          "E0804 a device's number outside of a manual region");
}

} // namespace shard
