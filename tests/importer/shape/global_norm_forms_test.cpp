#include "tests/support/imported_model.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace shard;

namespace {

// The root of what `sums` adds up as %t, of a (4, 8), b (3) and c, a number; %sa, %sb and %sc are their squares' sums.
std::string norm(const std::string& sums, const std::string& returned = "n",
                 const std::string& square = "stablehlo.multiply %a, %a") {
    return imported_program(
               "func.func @main(%a: tensor<4x8xf32>, %b: tensor<3xf32>, %c: tensor<f32>) -> tensor<f32> {\n"
               "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
               "  %qa = " +
               square +
               R"( : tensor<4x8xf32>
  %sa = stablehlo.reduce(%qa init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
  %qb = stablehlo.multiply %b, %b : tensor<3xf32>
  %sb = stablehlo.reduce(%qb init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  %sc = stablehlo.multiply %c, %c : tensor<f32>
)" + sums + R"(
  %n = stablehlo.sqrt %t : tensor<f32>
  %both = stablehlo.add %n, %sb : tensor<f32>
  return %)" + returned +
               " : tensor<f32>\n}\n")
        .model;
}

const std::string in_order = "  %s = stablehlo.add %sa, %sb : tensor<f32>\n  %t = stablehlo.add %s, %sc : tensor<f32>";

bool has(const std::string& model, const std::string& part) { return model.find(part) != std::string::npos; }

} // namespace

TEST_CASE("the root of the squares of several arrays is their global norm, added in that order") {
    CHECK(has(norm(in_order), "loss: {global_norm: [arg0, arg1, arg2]}"));
    CHECK(has(norm("  %s = stablehlo.add %sc, %sa : tensor<f32>\n  %t = stablehlo.add %sb, %s : tensor<f32>"),
              "loss: {global_norm: [arg2, arg0, arg1]}"));
    CHECK(has(norm("  %t = stablehlo.add %sb, %zero : tensor<f32>"), "loss: {global_norm: arg1}"));
    const std::string pairs = "  %s = stablehlo.add %sa, %sb : tensor<f32>\n"
                              "  %r = stablehlo.add %sc, %sc : tensor<f32>\n"
                              "  %t = stablehlo.add %s, %r : tensor<f32>";
    CHECK(!has(norm(pairs), "global_norm"));
}

TEST_CASE("what is no norm of whole arrays stays written out") {
    CHECK(!has(norm(in_order, "both"), "global_norm")); // a sum is read elsewhere
    CHECK(!has(norm(in_order, "n", "stablehlo.add %a, %a"), "global_norm"));
    CHECK(!has(norm("  %t = stablehlo.add %sa, %c : tensor<f32>"), "global_norm"));
    const std::string wide = "  %r = stablehlo.reduce(%qa init: %zero) applies stablehlo.add across dimensions = [0] : "
                             "(tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>\n"
                             "  %s = stablehlo.slice %r [0:1] : (tensor<8xf32>) -> tensor<1xf32>\n"
                             "  %t = stablehlo.reshape %s : (tensor<1xf32>) -> tensor<f32>";
    CHECK(!has(norm(wide), "global_norm"));
}
