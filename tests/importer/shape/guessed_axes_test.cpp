// Dims of arguments are called after their use, so that rules of a layout apply to an imported program.
#include "importer/program/import_program.h"
#include "plans/disk/file.h"

#include <doctest/doctest.h>

#include "test_paths.h"

using namespace shard;

namespace {

std::string recorded(const std::string& name, std::vector<GivenAxes> axes = {}) {
    std::string problem;
    Sources sources;
    const int file = sources.add(
        "program.mlir",
        read_file(SHARDC_SOURCE_DIR "/tests/importer/program/programs/" + name + ".mlir", problem).value_or(""));
    Diagnostics diagnostics;
    ImportRequest request = {[](const std::string& path) { return path.starts_with("params."); }};
    request.axes = std::move(axes);
    const std::optional<ImportedProgram> program = import_program(sources, file, request, diagnostics);
    REQUIRE(program.has_value());
    return program->model;
}

// Of a loss of `arguments`, which are parameters where they are called params; `more` is the rest of the function.
std::string model_of(const std::string& arguments, const std::string& more) {
    Sources sources;
    const int file = sources.add("p.mlir", "func.func @main(" + arguments + ") -> " + more);
    Diagnostics diagnostics;
    ImportRequest request = {[](const std::string& path) { return path.starts_with("params."); }};
    request.as = ImportAs::loss;
    const std::optional<ImportedProgram> program = import_program(sources, file, request, diagnostics);
    REQUIRE_MESSAGE(program.has_value(), diagnostics.all().at(0).message);
    return program->model;
}

GivenAxes given(const std::string& ending, std::vector<std::string> axes) {
    return {ending, [ending](const std::string& path) { return path.ends_with(ending); }, std::move(axes), {}};
}

} // namespace

TEST_CASE("a language model has batch, length, vocab, embed, heads, kv and mlp, scanned or not") {
    for (const std::string name : {"flax_gpt", "flax_scanned_gpt"}) {
        const std::string model = recorded(name);
        CAPTURE(model);
        for (const char* part :
             {"axes: {batch: 4, length: 4, vocab: 16, embed: 8, heads: 2, kv: 4, mlp: 32}\n",
              "batch_tokens: {axes: [batch, length], dtype: i32}", "Embed_0_embedding: {axes: [vocab, embed]}",
              "query_kernel: {axes: [embed, heads, kv]}", "out_kernel: {axes: [heads, kv, embed]}",
              "up_bias: {axes: [mlp]}", "down_kernel: {axes: [mlp, embed]}",
              "LayerNorm_0_scale: {axes: [embed], init: ones}"})
            CHECK_MESSAGE(model.find(part) != std::string::npos, part);
    }
}

TEST_CASE("of parameters whose layers are stacked along another dim the others have names") {
    const std::string model = recorded("stacked_layers");
    CAPTURE(model);
    for (const char* part :
         {"axes: {batch: 2, length: 8, vocab: 24, embed: 16, heads: 4, kv_heads: 2, kv: 32, mlp: 32}\n",
          "layers_query: {axes: [embed, 4, heads, kv]}", "layers_key: {axes: [embed, 4, kv_heads, kv]}",
          "layers_out: {axes: [heads, 4, kv, embed]}", "layers_down: {axes: [mlp, 4, embed]}"})
        CHECK_MESSAGE(model.find(part) != std::string::npos, part);
}

TEST_CASE("a program without words has a batch and features, and one without parameters no names") {
    const std::string model = recorded("mlp_loss");
    CAPTURE(model);
    for (const char* part : {"axes: {batch: 8, embed: 16, mlp: 32, features: 8}\nsizes: fixed\n",
                             "w1: {axes: [embed, mlp]}", "b1: {axes: [mlp]}", "x: {axes: [batch, embed]}"})
        CHECK_MESSAGE(model.find(part) != std::string::npos, part);
    CHECK(recorded("order").find("axes:") == std::string::npos);
}

TEST_CASE("weights that are given and not trained hold no examples, nor does what the model leaves out") {
    const std::string product =
        "contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>\n";
    const std::string loss = "  %c = stablehlo.constant dense<0.0> : tensor<f32>\n"
                             "  %p = stablehlo.dot_general %x, %w, " +
                             product + "  %q = stablehlo.dot_general %x, %t, " + product +
                             "  %d = stablehlo.subtract %p, %q : tensor<8x6xf32>\n"
                             "  %l = stablehlo.reduce(%d init: %c) applies stablehlo.add across dimensions = [0, 1] : "
                             "(tensor<8x6xf32>, tensor<f32>) -> tensor<f32>\n";
    const std::string model =
        model_of("%m: tensor<3x5xf32> loc(\"state['m']\"), %t: tensor<4x6xf32> loc(\"target['w']\"), "
                 "%w: tensor<4x6xf32> loc(\"params['w']\"), %x: tensor<8x4xf32> loc(\"x\")",
                 "(tensor<f32> {jax.result_info = \"result[0]\"}, tensor<3x5xf32> "
                 "{jax.result_info = \"result[1]['m']\"}) {\n" +
                     loss +
                     "  %n = stablehlo.tanh %m : tensor<3x5xf32>\n"
                     "  return %l, %n : tensor<f32>, tensor<3x5xf32>\n}\n");
    CAPTURE(model);
    CHECK(model.find("axes: {batch: 8, ") != std::string::npos);
    CHECK(model.find("x: {axes: [batch, embed]}") != std::string::npos);
    CHECK(model.find("target_w: {axes: [embed, ") != std::string::npos);
    CHECK(model.find("state_m") == std::string::npos);
}

TEST_CASE("what labels look up are words only if the program gives such, and else its inputs have a batch") {
    const auto model = [](const std::string& more, const std::string& type) {
        return model_of("%e: tensor<10x4xf32> loc(\"params['e']\"), %w: tensor<9x4xf32> loc(\"params['w']\"), "
                        "%i: tensor<8x1xi32> loc(\"label\"), %x: tensor<8x9xf32> loc(\"x\")",
                        "(tensor<f32> {jax.result_info = \"result[0]\"}, " + type +
                            " {jax.result_info = \"result[1]\"}) {" +
                            R"(
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %g = "stablehlo.gather"(%e, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
    start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> :
    (tensor<10x4xf32>, tensor<8x1xi32>) -> tensor<8x4xf32>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x9xf32>, tensor<9x4xf32>) -> tensor<8x4xf32>
  %h = stablehlo.add %g, %p : tensor<8x4xf32>
  %l = stablehlo.reduce(%h init: %c) applies stablehlo.add across dimensions = [0, 1] :
    (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
)" + more + "  return %l, %r : tensor<f32>, " +
                            type + "\n}\n");
    };
    const std::string pictures = model("  %r = stablehlo.tanh %h : tensor<8x4xf32>\n", "tensor<8x4xf32>");
    CHECK_MESSAGE(pictures.find("x: {axes: [batch, ") != std::string::npos, pictures);
    CHECK_MESSAGE(pictures.find("vocab") == std::string::npos, pictures);
    const std::string words = model("  %r = stablehlo.dot_general %h, %e, contracting_dims = [1] x [1] : "
                                    "(tensor<8x4xf32>, tensor<10x4xf32>) -> tensor<8x10xf32>\n",
                                    "tensor<8x10xf32>");
    CHECK_MESSAGE(words.find("e: {axes: [vocab, embed]}") != std::string::npos, words);
}

TEST_CASE("features are what something computed of them is added to, and what a loss chooses among are classes") {
    Sources sources;
    const int file = sources.add(
        "p.mlir",
        "func.func @main(%u: tensor<9x4xf32> loc(\"params['u']\"), %v: tensor<4x4xf32> loc(\"params['v']\"), "
        "%w: tensor<4x6xf32> loc(\"params['w']\"), %x: tensor<8x9xf32> loc(\"x\")) -> tensor<8x6xf32> {\n"
        "  %0 = stablehlo.dot_general %x, %u, contracting_dims = [1] x [0] : (tensor<8x9xf32>, tensor<9x4xf32>) -> "
        "tensor<8x4xf32>\n"
        "  %1 = stablehlo.dot_general %0, %v, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> "
        "tensor<8x4xf32>\n"
        "  %2 = stablehlo.add %0, %1 : tensor<8x4xf32>\n"
        "  %3 = stablehlo.dot_general %2, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> "
        "tensor<8x6xf32>\n"
        "  return %3 : tensor<8x6xf32>\n}\n");
    Diagnostics diagnostics;
    ImportRequest request = {[](const std::string& path) { return path.starts_with("params."); }};
    const std::optional<ImportedProgram> program = import_program(sources, file, request, diagnostics);
    REQUIRE(program.has_value());
    CAPTURE(program->model);
    for (const char* part :
         {"x: {axes: [batch, features]}", "u: {axes: [features, embed]}", "w: {axes: [embed, classes]}"})
        CHECK_MESSAGE(program->model.find(part) != std::string::npos, part);
}

TEST_CASE("a loss that is written out chooses among what its labels are one of") {
    const std::string model =
        model_of("%w: tensor<9x4xf32> loc(\"params['w']\"), %h: tensor<4x6xf32> loc(\"params['head']\"), "
                 "%x: tensor<8x9xf32> loc(\"x\"), %y: tensor<8xi32> loc(\"label\")",
                 R"(tensor<f32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x9xf32>, tensor<9x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.dot_general %0, %h, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %2 = stablehlo.broadcast_in_dim %y, dims = [0] : (tensor<8xi32>) -> tensor<8x6xi32>
  %3 = stablehlo.iota dim = 1 : tensor<8x6xi32>
  %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<8x6xi32>, tensor<8x6xi32>) -> tensor<8x6xi1>
  %5 = stablehlo.convert %4 : (tensor<8x6xi1>) -> tensor<8x6xf32>
  %6 = stablehlo.multiply %5, %1 : tensor<8x6xf32>
  %7 = stablehlo.reduce(%6 init: %c) applies stablehlo.add across dimensions = [0, 1] :
    (tensor<8x6xf32>, tensor<f32>) -> tensor<f32>
  return %7 : tensor<f32>
}
)");
    CAPTURE(model);
    CHECK(model.find("{one_hot: label") != std::string::npos);
    CHECK(model.find("classes: 6") != std::string::npos);
    CHECK(model.find("head: {axes: [") != std::string::npos);
}

TEST_CASE("the next parameters of a step are nothing that a loss chooses among") {
    Sources sources;
    const int file = sources.add("p.mlir", R"(func.func @main(%e: tensor<6x4xf32> loc("params['e']"),
    %w: tensor<4x6xf32> {tf.aliasing_output = 1 : i32} loc("params['w']"), %u: tensor<6x4xf32> loc("params['u']"),
    %t: tensor<8x3x1xi32> loc("tokens")) -> (tensor<8x3x4xf32>, tensor<4x6xf32>) {
  %g = "stablehlo.gather"(%e, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0],
    start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> :
    (tensor<6x4xf32>, tensor<8x3x1xi32>) -> tensor<8x3x4xf32>
  %0 = stablehlo.dot_general %g, %w, contracting_dims = [2] x [0] : (tensor<8x3x4xf32>, tensor<4x6xf32>) -> tensor<8x3x6xf32>
  %1 = stablehlo.dot_general %0, %u, contracting_dims = [2] x [0] : (tensor<8x3x6xf32>, tensor<6x4xf32>) -> tensor<8x3x4xf32>
  %2 = stablehlo.add %w, %w : tensor<4x6xf32>
  return %1, %2 : tensor<8x3x4xf32>, tensor<4x6xf32>
}
)");
    Diagnostics diagnostics;
    ImportRequest request = {[](const std::string& path) { return path.starts_with("params."); }};
    request.as = ImportAs::step;
    const std::optional<ImportedProgram> program = import_program(sources, file, request, diagnostics);
    REQUIRE_MESSAGE(program.has_value(), diagnostics.all().at(0).message);
    CAPTURE(program->model);
    CHECK(program->model.find("w: {axes: [embed, mlp]}") != std::string::npos); // as many as there are words
}

TEST_CASE(
    "names that are given are those of their arrays, and of dims that are one with them, and the rest is guessed") {
    const std::string model = recorded("flax_gpt", {given("Embed_0.embedding", {"words", "model"}),
                                                    given("up.kernel", {"", "hidden"}), given("up.bias", {"other"})});
    CAPTURE(model);
    for (const char* part :
         {"axes: {batch: 4, length: 4, heads: 2, kv: 4, other: 32, hidden: 32, words: 16, model: 8}\n",
          "Embed_0_embedding: {axes: [words, model]}", "query_kernel: {axes: [model, heads, kv]}",
          "up_kernel: {axes: [8, hidden]}", "up_bias: {axes: [other]}",
          "batch_tokens: {axes: [batch, length], dtype: i32}", "LayerNorm_0_scale: {axes: [model], init: ones}"})
        CHECK_MESSAGE(model.find(part) != std::string::npos, part);
}

TEST_CASE("a program without a lookup has the names that are given, and of two patterns the last counts") {
    const std::string model = recorded("mlp_loss", {given("1", {"mlp"}), given("w1", {"embed", "mlp"})});
    CAPTURE(model);
    for (const char* part : {"axes: {batch: 8, embed: 16, mlp: 32, features: 8}\n", "w1: {axes: [embed, mlp]}",
                             "b1: {axes: [mlp]}", "w2: {axes: [mlp, features]}", "x: {axes: [batch, embed]}"})
        CHECK_MESSAGE(model.find(part) != std::string::npos, part);
}
