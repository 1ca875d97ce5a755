// What is written in place of the entries that compute it. That the numbers stay is proved by the recorded programs
// (tests/importer/program).
#include "importer/program/import_program.h"
#include "plans/disk/file.h"

#include <doctest/doctest.h>

#include "test_paths.h"

using namespace shard;

namespace {

std::string model_of(const std::string& text) {
    Sources sources;
    const int file = sources.add("program.mlir", text);
    Diagnostics diagnostics;
    const ImportRequest request = {[](const std::string& path) { return path.starts_with("params."); }};
    const std::optional<ImportedProgram> program = import_program(sources, file, request, diagnostics);
    REQUIRE_MESSAGE(program.has_value(), diagnostics.all().at(0).message);
    return program->model;
}

std::string recorded(const std::string& name) {
    std::string problem;
    return model_of(
        read_file(SHARDC_SOURCE_DIR "/tests/importer/program/programs/" + name + ".mlir", problem).value_or(""));
}

// exp(x - max) / sum, along dim 1 of (4, 8); `returned` is the result.
std::string softmax(const std::string& largest_of, const std::string& returned) {
    return R"(func.func @main(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%)" +
           largest_of +
           R"( init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %mw = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %d = stablehlo.subtract %x, %mw : tensor<4x8xf32>
  %e = stablehlo.exponential %d : tensor<4x8xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %sw = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %p = stablehlo.divide %e, %sw : tensor<4x8xf32>
  %z = stablehlo.add %p, %e : tensor<4x8xf32>
  return %)" +
           returned + " : tensor<4x8xf32>\n}\n";
}

bool has(const std::string& model, const std::string& part) { return model.find(part) != std::string::npos; }

} // namespace

TEST_CASE("what JAX, Flax and optax write is recognised") {
    CHECK(has(recorded("softmax"), "{softmax: x, dim: 1"));
    CHECK(has(recorded("layer_norm"), "{layer_norm: [x, scale, bias], eps: 1.0e-06"));
    const std::string gpt = recorded("flax_gpt");
    CHECK(has(gpt, "{layer_norm: [x, LayerNorm_0_scale, LayerNorm_0_bias], eps: 1.0e-06, fast_variance: true"));
    CHECK(has(gpt, "{gelu: up_add"));
    CHECK(has(gpt, "_value_add], causal: true")); // attention
    CHECK(has(gpt, "{logsumexp: "));
    const std::string experts = recorded("flax_experts");
    CHECK(has(experts, "{silu: "));
    CHECK(has(experts, "{one_hot: "));
    CHECK(has(recorded("gpt_loss"), "{log_softmax: "));
}

TEST_CASE("a softmax is one only if it is of one value, and nothing else reads what is in between") {
    CHECK(has(model_of(softmax("x", "p")), "result: {softmax: arg0, dim: 1}"));
    CHECK(!has(model_of(softmax("y", "p")), "softmax"));
    CHECK(!has(model_of(softmax("x", "z")), "softmax"));
}
