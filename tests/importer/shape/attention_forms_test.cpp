// Attention in place of what computes it, and what stays written out. That the numbers stay is proved by the recorded
// programs (tests/importer/program), of which these are some.
#include "tests/support/imported_model.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

std::string model_of(const std::string& text) { return imported_program(text).model; }
std::string recorded(const std::string& name) { return model_of(recorded_program(name)); }

// The entry that makes a value, without the place that it is from.
std::string entry_of(const std::string& model, const std::string& value) {
    const size_t begin = model.find("- " + value + ": ");
    REQUIRE(begin != std::string::npos);
    const std::string line = model.substr(begin + 2, model.find('\n', begin) - begin - 2);
    const size_t at = line.find(", at: ");
    return at == std::string::npos ? line : line.substr(0, at) + "}";
}

size_t count_of(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Of one head without a batch, in f32: 8 queries, 8 keys. `masked` makes %s of the scaled scores %scaled, with %i and
// %j as positions, numbers %low and %none (-inf) and a bool argument %m (8, 8); `more` reads of the weights %p.
std::string attention(const std::string& masked, const std::string& more = "") {
    return R"(func.func @main(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %m: tensor<8x8xi1>) -> (tensor<8x4xf32>)" +
           std::string(more.empty() ? "" : ", tensor<8x8xf32>") + R"() {
  %none = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<8x8xf32>
  %low = stablehlo.constant dense<-1.0e+9> : tensor<8x8xf32>
  %lowest = stablehlo.constant dense<-2.0e+38> : tensor<8x8xf32>
  %hidden = stablehlo.constant dense<0xFF800000> : tensor<8x8xf32>
  %three = stablehlo.constant dense<3> : tensor<8x8xi32>
  %i = stablehlo.iota dim = 0 : tensor<8x8xi32>
  %j = stablehlo.iota dim = 1 : tensor<8x8xi32>
  %product = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %scaled = stablehlo.multiply %product, %half : tensor<8x8xf32>
)" + masked +
           R"(
  %most = stablehlo.reduce(%s init: %none) applies stablehlo.maximum across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %mw = stablehlo.broadcast_in_dim %most, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
  %d = stablehlo.subtract %s, %mw : tensor<8x8xf32>
  %e = stablehlo.exponential %d : tensor<8x8xf32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %sw = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
  %p = stablehlo.divide %e, %sw : tensor<8x8xf32>
  %r = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %r)" +
           (more.empty() ? "" : ", %p") + R"( : tensor<8x4xf32>)" + (more.empty() ? "" : ", tensor<8x8xf32>") + "\n}\n";
}

// Scores where a comparison of %a and %b holds, else the number.
std::string compared(const std::string& a, const std::string& direction, const std::string& b,
                     const std::string& number) {
    return "  %c = stablehlo.compare " + direction + ", " + a + ", " + b +
           ", SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>\n"
           "  %s = stablehlo.select %c, %scaled, " +
           number + " : tensor<8x8xi1>, tensor<8x8xf32>\n";
}

const std::string back = "  %back = stablehlo.subtract %i, %three : tensor<8x8xi32>\n";

std::string arguments(const std::string& masked) {
    const std::string model = model_of(attention(masked));
    if (!has(model, "{attention: ")) return "none";
    return entry_of(model, "attention");
}

} // namespace

TEST_CASE("attention as jax.nn writes it: grouped heads, scale, bias, masks and windows") {
    const std::string model = recorded("attentions");
    CHECK(entry_of(model, "result_0") == "result_0: {attention: [q, k, v]}");
    CHECK(entry_of(model, "result_1") == "result_1: {attention: [q, k, v], causal: true}");
    CHECK(entry_of(model, "result_2") == "result_2: {attention: [q, shared_k, shared_v]}");
    CHECK(entry_of(model, "result_3") == "result_3: {attention: [q, shared_k, shared_v], causal: true, scale: 0.3}");
    CHECK(entry_of(model, "result_4") == "result_4: {attention: [q, k, v, bias]}");
    CHECK(entry_of(model, "result_5") == "result_5: {attention: [q, k, v, select]}"); // some see no key
    CHECK(entry_of(model, "result_6") == "result_6: {attention: [q, k, v], causal: true, window: 4}");
    CHECK(entry_of(model, "result_7") == "result_7: {attention: [q, k, v], window: 3}");
    CHECK(entry_of(model, "result_8") == "result_8: {attention: [q, k, v], causal: true, window: 3}");
    CHECK(entry_of(model, "result_9") == "result_9: {attention: [q, k, v, select_2]}");
    CHECK(has(entry_of(model, "result_10"), "{reshape: attention")); // without a batch
    CHECK(has(entry_of(model, "result_11"), ", causal: true}"));     // 4 queries of 8 keys
    CHECK(!has(model, "softmax"));
}

TEST_CASE("attention as people write it, and what only looks like it") {
    const std::string model = recorded("attentions_by_hand");
    CHECK(has(entry_of(model, "attention"), ", causal: true, scale: 0.4}"));
    CHECK(has(entry_of(model, "attention_2"), ", causal: true}"));
    CHECK(has(entry_of(model, "result_2"), ", few_k, few_v], causal: true}")); // repeated heads
    CHECK(has(entry_of(model, "attention_3"), ", few_k, few_v], causal: true}"));
    CHECK(has(entry_of(model, "result_5"), ", few_k, few_v, parts, parts], causal: true, scale: 1, soft_cap: 5}"));
    CHECK(has(entry_of(model, "attention_4"), ", few_k, few_v, reshape")); // a mask, and the dims of the result turned
    CHECK(has(entry_of(model, "result_7"), ", causal: true, scale: 1, soft_cap: 5}"));
    CHECK(count_of(model, "{softmax: ") == 4);
}

TEST_CASE("attention may divide by the sums of its weights at last, if they are the sums over its keys") {
    std::string problem;
    const std::string program =
        read_file(SHARDC_SOURCE_DIR "/tests/importer/program/programs/stacked_layers.mlir", problem).value_or("");
    const auto replaced = [&](const std::string& from, const std::string& to) {
        std::string text = program;
        REQUIRE(text.find(from) != std::string::npos);
        return model_of(text.replace(text.find(from), from.size(), to));
    };
    const std::string model = model_of(program);
    CAPTURE(model);
    CHECK(has(entry_of(model, "attention"), ", einsum_3, select], scale: 0.03125}"));
    CHECK(!has(model, "exp: "));
    // Sums of something else, over queries, of what is below another maximum; and what is multiplied by them.
    const std::string others[] = {
        replaced("stablehlo.reduce(%226 init: %cst_52)", "stablehlo.reduce(%225 init: %cst_52)"),
        replaced("stablehlo.reduce(%226 init: %cst_52) applies stablehlo.add across dimensions = [3]",
                 "stablehlo.reduce(%226 init: %cst_52) applies stablehlo.add across dimensions = [2]"),
        replaced("applies stablehlo.maximum across dimensions = [3]",
                 "applies stablehlo.minimum across dimensions = [3]"),
        replaced("%235 = stablehlo.divide %233, %234", "%235 = stablehlo.multiply %233, %234"),
        replaced("%235 = stablehlo.divide %233, %234", "%235 = stablehlo.divide %234, %233")};
    for (const std::string& other : others) CHECK(!has(other, "{attention: "));
}

TEST_CASE("sums of narrow weights, which are summed up in f32, are theirs") {
    const std::string program =
        R"(func.func @main(%q: tensor<8x4xbf16>, %k: tensor<8x4xbf16>, %v: tensor<8x4xbf16>) -> tensor<8x4xbf16> {
  %none = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xbf16>, tensor<8x4xbf16>) -> tensor<8x8xbf16>
  %most = stablehlo.reduce(%s init: %none) applies stablehlo.maximum across dimensions = [1] : (tensor<8x8xbf16>, tensor<bf16>) -> tensor<8xbf16>
  %mw = stablehlo.broadcast_in_dim %most, dims = [0] : (tensor<8xbf16>) -> tensor<8x8xbf16>
  %d = stablehlo.subtract %s, %mw : tensor<8x8xbf16>
  %e = stablehlo.exponential %d : tensor<8x8xbf16>
  %w = stablehlo.convert %e : (tensor<8x8xbf16>) -> tensor<8x8xf32>
  %sum = stablehlo.reduce(%w init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %n = stablehlo.convert %sum : (tensor<8xf32>) -> tensor<8xbf16>
  %r = stablehlo.dot_general %e, %v, contracting_dims = [1] x [0] : (tensor<8x8xbf16>, tensor<8x4xbf16>) -> tensor<8x4xbf16>
  %sw = stablehlo.broadcast_in_dim %n, dims = [0] : (tensor<8xbf16>) -> tensor<8x4xbf16>
  %o = stablehlo.divide %r, %sw : tensor<8x4xbf16>
  return %o : tensor<8x4xbf16>
}
)";
    const std::string model = model_of(program);
    CHECK_MESSAGE(has(entry_of(model, "attention"), ", scale: 1}"), model);
    const auto replaced = [&](const std::string& from, const std::string& to) {
        std::string text = program;
        REQUIRE(text.find(from) != std::string::npos);
        return model_of(text.replace(text.find(from), from.size(), to));
    };
    // Weights that are scaled behind their sum, and sums of whole numbers.
    CHECK(!has(replaced("  %r = stablehlo.dot_general %e,",
                        "  %two = stablehlo.constant dense<2.0> : tensor<8x8xbf16>\n"
                        "  %t = stablehlo.multiply %e, %two : tensor<8x8xbf16>\n  %r = stablehlo.dot_general %t,"),
               "{attention: "));
    CHECK(!has(replaced("  %w = stablehlo.convert %e : (tensor<8x8xbf16>) -> tensor<8x8xf32>\n",
                        "  %i = stablehlo.convert %e : (tensor<8x8xbf16>) -> tensor<8x8xi32>\n"
                        "  %w = stablehlo.convert %i : (tensor<8x8xi32>) -> tensor<8x8xf32>\n"),
               "{attention: "));
}

TEST_CASE("Flax's attention is one entry") {
    CHECK(has(recorded("nnx_attention"), "causal: true"));
    const std::string model = recorded("flax_attention");
    CHECK(has(entry_of(model, "Attending_MultiHeadDotProductAttention_0_attention"), ", causal: true}"));
    CHECK(has(entry_of(model, "Attending_MultiHeadDotProductAttention_1_attention"), "_select]}"));
    CHECK(!has(model, "softmax"));
    CHECK(!has(recorded("flax_step"), "{attention: ")); // its backward pass reads the weights
}

TEST_CASE("dropout of attention's weights is attention's own, of each weight or of the same ones in all heads") {
    const std::string model = recorded("flax_dropping"), of_nnx = recorded("nnx_dropping");
    CAPTURE(model);
    CAPTURE(of_nnx);
    CHECK(has(entry_of(model, "Dropping_MultiHeadDotProductAttention_0_attention"), ", causal: true, dropout: 0.5}"));
    CHECK(has(entry_of(model, "Dropping_MultiHeadDotProductAttention_1_attention"),
              ", causal: true, dropout: 0.25, broadcast_dropout: true}"));
    CHECK(has(model, "_fold_in], dropout: 0.1, at: "));
    CHECK(has(of_nnx, "], causal: true, dropout: 0.3, at: "));
    for (const std::string* each : {&model, &of_nnx}) {
        CHECK(!has(*each, "softmax"));
        CHECK(!has(*each, "bernoulli"));
    }
    // Where each is one that the op has, and where the shape, the factor, the sides or the order are others.
    const std::string by_hand = recorded("attentions_dropping");
    CAPTURE(by_hand);
    for (const char* result : {"result_0", "result_1", "attention"})
        CHECK(has(entry_of(by_hand, result), "], dropout: 0.25}"));
    CHECK(count_of(by_hand, "{softmax: ") == 6);
    CHECK(count_of(by_hand, "{attention: ") == 3);
}

TEST_CASE("positions that are compared are causal or a window only if they are one") {
    const std::string plain = "attention: {attention: [reshape, reshape_2, reshape_3]";
    CHECK(arguments("  %s = stablehlo.multiply %scaled, %half : tensor<8x8xf32>\n") == plain + ", scale: 0.25}");
    CHECK(arguments(compared("%i", "GE", "%j", "%low")) == plain + ", causal: true}");
    CHECK(arguments(compared("%j", "LE", "%i", "%hidden")) == plain + ", causal: true}");
    CHECK(arguments(back + compared("%back", "LT", "%j", "%low")) == "none"); // i - 3 < j: sees what comes
    CHECK(arguments(compared("%i", "GT", "%j", "%low")) == "none");           // the first sees nothing
    CHECK(arguments(compared("%i", "LE", "%j", "%low")) == "none");
}

TEST_CASE("what may hide all keys of a query is another value, or attention stays written out") {
    const std::string masked = "  %s = stablehlo.select %m, %scaled, ";
    const std::string types = " : tensor<8x8xi1>, tensor<8x8xf32>\n";
    CHECK(arguments(masked + "%low" + types) == "none"); // -1e9 + score is not -1e9
    CHECK(arguments(masked + "%lowest" + types) == "attention: {attention: [reshape, reshape_2, reshape_3, select]}");
    CHECK(arguments(masked + "%hidden" + types) ==
          "attention: {attention: [reshape, reshape_2, reshape_3, reshape_4]}");        // no number there
    CHECK(!has(model_of(attention(masked + "%hidden" + types, "%p")), "{attention: ")); // weights are read
}

TEST_CASE(
    "positions that are compared as a difference with a number, as torch.tril does, are those that are compared") {
    const std::string apart = "  %apart = stablehlo.subtract %j, %i : tensor<8x8xi32>\n"
                              "  %minus = stablehlo.subtract %i, %j : tensor<8x8xi32>\n"
                              "  %none_yet = stablehlo.constant dense<0> : tensor<8x8xi32>\n";
    CHECK(arguments(apart + compared("%apart", "LE", "%none_yet", "%hidden")) ==
          arguments(compared("%j", "LE", "%i", "%hidden")));
    CHECK(has(arguments(apart + compared("%apart", "LE", "%none_yet", "%hidden")), "causal: true"));
    CHECK(has(arguments(apart + compared("%none_yet", "LE", "%minus", "%hidden")), "causal: true"));
    CHECK(arguments(apart + compared("%minus", "LT", "%three", "%hidden")) ==
          arguments("  %there = stablehlo.add %j, %three : tensor<8x8xi32>\n" +
                    compared("%i", "LT", "%there", "%hidden")));
    CHECK(!has(arguments(apart + compared("%apart", "EQ", "%none_yet", "%hidden")), "causal: true"));
}
