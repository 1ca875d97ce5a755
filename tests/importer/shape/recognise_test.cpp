// What is written in place of the entries that compute it. That the numbers stay is proved by the recorded programs
// (tests/importer/program).
#include "plans/disk/file.h"
#include "tests/support/imported_model.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "test_paths.h"

using namespace shard;

namespace {

std::string model_of(const std::string& text) { return imported_program(text).model; }
std::string recorded(const std::string& name) { return model_of(recorded_program(name)); }

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
    CHECK(has(gpt, "value_add], causal: true")); // attention
    CHECK(has(gpt, "loss: {softmax_cross_entropy: [Gpt_Embed_0_attend_dot, "));
    const std::string experts = recorded("flax_experts");
    CHECK(has(experts, "{silu: "));
    CHECK(has(experts, "{one_hot: "));
    CHECK(has(recorded("gpt_loss"), "loss: {softmax_cross_entropy: ["));
}

TEST_CASE("a softmax is one only if it is of one value, and nothing else reads what is in between") {
    CHECK(has(model_of(softmax("x", "p")), "result: {softmax: arg0, dim: 1}"));
    CHECK(!has(model_of(softmax("y", "p")), "softmax"));
    CHECK(!has(model_of(softmax("x", "z")), "softmax"));
}

TEST_CASE("lookups and losses of labels are recognised where what is outside is no number in the program") {
    const std::string model = recorded("lookups");
    CAPTURE(model);
    for (const char* part :
         {"result_0: {gather: [table, select_2], dim: 0", "result_2: {softmax_cross_entropy: [x, reshape",
          "{softmax_cross_entropy: [x, reshape_3], per_position: true", "result_4: {softmax_cross_entropy: [x, reshape",
          "result_5: {softmax_cross_entropy: [mul_2, reshape", "result_6: {softmax_cross_entropy: ["})
        CHECK_MESSAGE(has(model, part), part);
    CHECK(has(model, ", .nan]"));        // NaN that the program puts elsewhere
    CHECK(has(model, "{log_softmax: ")); // a label that is moved into the classes
}

TEST_CASE("a layer norm that is written as x * f + (bias - mean * f) is one, if the mean is that of x") {
    const std::string model = recorded("norms");
    CHECK(has(model, "result_0: {layer_norm: [x, scale, bias], eps: 1.0e-05"));
    CHECK(has(model, "result_1: {add: "));
}

TEST_CASE(
    "norms over a root, by one over a root, and of what has been scaled are norms, and x / (1 + exp(-x)) is silu") {
    const std::string model = recorded("norms_by_hand");
    for (const char* part :
         {"result_0: {layer_norm: [x, scale, bias], eps: 1.0e-05", "result_1: {rms_norm: [x, scale]",
          "result_2: {rms_norm: [x, scale]", "result_3: {rms_norm: [x, scale]", "result_4: {silu: x"})
        CHECK_MESSAGE(has(model, part), part);
}

TEST_CASE("norms as equinox has them, whose variance is at least 0 and whose factor gets its dim last") {
    const auto model = [](const std::string& body) {
        return model_of(fmt::format(R"(func.func @main(%x: tensor<4x8xf32> loc("x")) -> tensor<4x8xf32> {{
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.constant dense<0.0> : tensor<4xf32>
  %n = stablehlo.constant dense<8.0> : tensor<4xf32>
  %eps = stablehlo.constant dense<1.0e-5> : tensor<4xf32>
{0}  %q = stablehlo.multiply %c, %c : tensor<4x8xf32>
  %t = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %v = stablehlo.divide %t, %n : tensor<4xf32>
  %w = stablehlo.maximum %zeros, %v : tensor<4xf32>
  %e = stablehlo.add %w, %eps : tensor<4xf32>
  %i = stablehlo.rsqrt %e : tensor<4xf32>
  %k = stablehlo.reshape %i : (tensor<4xf32>) -> tensor<4x1xf32>
  %j = stablehlo.broadcast_in_dim %k, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x8xf32>
  %r = stablehlo.multiply %j, %c : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}}
)",
                                    body));
    };
    const std::string centered = R"(
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %m = stablehlo.divide %s, %n : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %c = stablehlo.subtract %x, %b : tensor<4x8xf32>
)";
    CHECK_MESSAGE(has(model(centered), "{layer_norm: x, eps: 1.0e-05"), model(centered));
    const std::string tanh = "  %c = stablehlo.tanh %x : tensor<4x8xf32>\n";
    CHECK_MESSAGE(has(model(tanh), "{rms_norm: tanh, eps: 1.0e-05"), model(tanh));
}

TEST_CASE("what is divided by the root of another's variance is no norm") {
    std::string problem;
    std::string text =
        read_file(SHARDC_SOURCE_DIR "/tests/importer/program/programs/layer_norm.mlir", problem).value_or("");
    const size_t mean = text.find("stablehlo.divide %1, %2");
    REQUIRE(mean != std::string::npos);
    text.replace(mean, 23, "stablehlo.divide %2, %1"); // x less the inverse of its mean
    CHECK(!has(model_of(text), "_norm: "));
}

TEST_CASE("a group norm of Flax is a layer norm of channels in groups") {
    const std::string model = recorded("flax_group_norm");
    CAPTURE(model);
    CHECK(has(model, "  - GroupNorm_reshape: {reshape: args_0, shape: [2, 4, 4, 4, 4]"));
    CHECK(has(model, "{layer_norm: GroupNorm_reshape, dim: [1, 2, 4], eps: 1.0e-06, fast_variance: true"));
    CHECK(has(model, "{mul: [GroupNorm_reshape_2, variables_params_scale]"));
    CHECK(!has(model, "rsqrt"));
    // A mean over other dims is none of the groups.
    std::string problem;
    std::string text =
        read_file(SHARDC_SOURCE_DIR "/tests/importer/program/programs/flax_group_norm.mlir", problem).value_or("");
    const size_t at = text.find("dims = [0, 1]");
    REQUIRE(at != std::string::npos);
    text.replace(at, 13, "dims = [0, 2]"); // 4 groups of 4: the same shapes
    CHECK(!has(model_of(text), "layer_norm"));
}

TEST_CASE("softplus and logaddexp are recognised as jax writes them") {
    const std::string model = recorded("elementwise");
    CAPTURE(model);
    CHECK(has(model, ": {softplus: x,"));
    CHECK(has(model, ": {logaddexp: [x, y],"));
    CHECK(!has(model, "log1p: exp"));
}

TEST_CASE("a gelu of bf16 has the factors that bf16 has") {
    const auto gelu = [](const std::string& small, const std::string& root) {
        std::string text = R"(func.func @main(%x: tensor<4xbf16>) -> tensor<4xbf16> {
)";
        for (const auto& [name, number] : {std::pair("c", small), {"r", root}, {"o", "1.0"}, {"h", "5.0e-01"}})
            text += fmt::format(
                "  %{0} = stablehlo.constant dense<{1}> : tensor<bf16>\n  %{0}w = stablehlo.broadcast_in_dim "
                "%{0}, dims = [] : (tensor<bf16>) -> tensor<4xbf16>\n",
                name, number);
        return text + R"(  %0 = stablehlo.multiply %x, %x : tensor<4xbf16>
  %1 = stablehlo.multiply %0, %x : tensor<4xbf16>
  %2 = stablehlo.multiply %cw, %1 : tensor<4xbf16>
  %3 = stablehlo.add %x, %2 : tensor<4xbf16>
  %4 = stablehlo.multiply %rw, %3 : tensor<4xbf16>
  %5 = stablehlo.tanh %4 : tensor<4xbf16>
  %6 = stablehlo.add %ow, %5 : tensor<4xbf16>
  %7 = stablehlo.multiply %hw, %6 : tensor<4xbf16>
  %8 = stablehlo.multiply %x, %7 : tensor<4xbf16>
  return %8 : tensor<4xbf16>
}
)";
    };
    CHECK(has(model_of(gelu("4.467770e-02", "7.968750e-01")), "{gelu: arg0}"));
    CHECK(!has(model_of(gelu("4.492190e-02", "7.968750e-01")), "{gelu: arg0}")); // the next number
    CHECK(!has(model_of(gelu("4.467770e-02", "8.007810e-01")), "{gelu: arg0}"));
}

TEST_CASE("an exact gelu is half of x by what erfc leaves") {
    const auto gelu = [](const std::string& half, const std::string& root, const std::string& halved) {
        return R"(func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<)" +
               half + R"(> : tensor<f32>
  %cw = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %r = stablehlo.constant dense<)" +
               root + R"(> : tensor<f32>
  %rw = stablehlo.broadcast_in_dim %r, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %h = stablehlo.multiply %cw, %)" +
               halved + R"( : tensor<4xf32>
  %n = stablehlo.negate %x : tensor<4xf32>
  %s = stablehlo.multiply %n, %rw : tensor<4xf32>
  %e = chlo.erfc %s : tensor<4xf32> -> tensor<4xf32>
  %z = stablehlo.multiply %h, %e : tensor<4xf32>
  return %z : tensor<4xf32>
}
)";
    };
    CHECK(has(model_of(gelu("5.0e-01", "0.707106769", "x")), "{gelu: arg0, approximate: false}"));
    CHECK(!has(model_of(gelu("6.0e-01", "0.707106769", "x")), "gelu"));
    CHECK(!has(model_of(gelu("5.0e-01", "0.707206769", "x")), "gelu"));
    CHECK(!has(model_of(gelu("5.0e-01", "0.707106769", "y")), "gelu"));
}
