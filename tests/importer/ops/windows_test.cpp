// Windows of a program in both forms of its text, and those that have no counterpart.
#include "importer/program/import_program.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

// The entries of the model, or the first problem.
std::string imported(const std::string& body, const std::string& arguments, const std::string& type) {
    Sources sources;
    const int file = sources.add(
        "p.mlir", fmt::format("module @m {{\n  func.func public @main({}) -> {} {{\n{}    return %9 : {}\n  }}\n}}\n",
                              arguments, type, body, type));
    Diagnostics diagnostics;
    const ImportRequest request = {[](const std::string&) { return false; }};
    const std::optional<ImportedProgram> program = import_program(sources, file, request, diagnostics);
    if (!program) return diagnostics.all().at(0).code + " " + diagnostics.all().at(0).message;
    const size_t begin = program->model.find("graph:\n");
    return program->model.substr(begin, program->model.find("outputs:") - begin);
}

const std::string image = "%0: tensor<2x8x6x4xf32>, %1: tensor<3x2x4x5xf32>";

std::string convolved(const std::string& window, const std::string& attributes, const std::string& result) {
    return imported(
        fmt::format("    %9 = stablehlo.convolution(%0, %1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 1, "
                    "0, f], window = {{{}}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64{}}} "
                    ": (tensor<2x8x6x4xf32>, tensor<3x2x4x5xf32>) -> {}\n",
                    window, attributes, result),
        image, result);
}

std::string reduced(const std::string& op, const std::string& start, const std::string& dtype = "f32") {
    return imported(
        fmt::format("    %1 = stablehlo.constant dense<{1}> : tensor<{2}>\n"
                    "    %9 = \"stablehlo.reduce_window\"(%0, %1) <{{padding = dense<[[0, 0], [1, 0], [0, "
                    "0]]> : tensor<3x2xi64>, window_dimensions = array<i64: 1, 3, 1>, window_strides = "
                    "array<i64: 1, 2, 1>}}> ({{\n    ^bb0(%2: tensor<{2}>, %3: tensor<{2}>):\n      %4 = {0} %2, "
                    "%3 : tensor<{2}>\n      stablehlo.return %4 : tensor<{2}>\n    }}) : (tensor<2x8x4x{2}>, "
                    "tensor<{2}>) -> tensor<2x4x4x{2}>\n",
                    op, start, dtype),
        fmt::format("%0: tensor<2x8x4x{}>", dtype), fmt::format("tensor<2x4x4x{}>", dtype));
}

// Of all elements up to each.
std::string running(const std::string& op, const std::string& start, const std::string& dtype) {
    return imported(
        fmt::format("    %1 = stablehlo.constant dense<{1}> : tensor<{2}>\n"
                    "    %9 = \"stablehlo.reduce_window\"(%0, %1) <{{padding = dense<[[3, 0]]> : tensor<1x2xi64>, "
                    "window_dimensions = array<i64: 4>}}> ({{\n    ^bb0(%2: tensor<{2}>, %3: tensor<{2}>):\n"
                    "      %4 = {0} %2, %3 : tensor<{2}>\n      stablehlo.return %4 : tensor<{2}>\n    }}) : "
                    "(tensor<4x{2}>, tensor<{2}>) -> tensor<4x{2}>\n",
                    op, start, dtype),
        fmt::format("%0: tensor<4x{}>", dtype), fmt::format("tensor<4x{}>", dtype));
}

} // namespace

TEST_CASE("a running sum, product, maximum or minimum begins with what changes nothing, or is none") {
    const auto has = [](const std::string& text, std::string_view part) {
        return text.find(part) != std::string::npos;
    };
    CHECK(has(running("stablehlo.add", "0.0", "f32"), "{cumsum: arg0, dim: 0}"));
    CHECK(has(running("stablehlo.multiply", "1", "i32"), "{cumprod: arg0, dim: 0}"));
    CHECK(has(running("stablehlo.maximum", "0xFF800000", "f32"), "{cummax: arg0, dim: 0}"));
    CHECK(has(running("stablehlo.minimum", "2147483647", "i32"), "{cummin: arg0, dim: 0}"));
    CHECK(has(running("stablehlo.maximum", "-2147483648", "i32"), "{cummax: arg0, dim: 0}"));
    for (const auto& [op, start, dtype] :
         {std::tuple("stablehlo.maximum", "0.0", "f32"), std::tuple("stablehlo.maximum", "100.0", "f32"),
          std::tuple("stablehlo.minimum", "0", "i32"), std::tuple("stablehlo.add", "1", "i32"),
          std::tuple("stablehlo.add", "false", "i1")}) {
        CAPTURE(op);
        CAPTURE(start);
        CHECK(running(op, start, dtype).starts_with("E0804"));
    }
}

TEST_CASE("a convolution is read with its dims, strides, borders and dilations, in the pretty and the generic form") {
    const std::string entry =
        convolved("stride = [2, 1], pad = [[1, 1], [0, -1]], rhs_dilate = [1, 3]", "", "tensor<2x2x4x5xf32>");
    CHECK(entry.find("dims: \"nhwi,hwio->nwho\", strides: [2, 1], low: [1, 0], high: [1, -1], dilation: [1, 3]}") !=
          std::string::npos);
    CHECK(convolved("reverse = [true, true], lhs_dilate = [2, 1]", "", "tensor<2x5x13x5xf32>")
              .find("input_dilation: [2, 1], reverse: true}") != std::string::npos);
    // Reversed along one of them: the second operand is turned there.
    CHECK(convolved("reverse = [false, true]", "", "tensor<2x5x6x5xf32>").find("{rev: ") != std::string::npos);
    CHECK(imported("    %9 = \"stablehlo.convolution\"(%0, %1) <{batch_group_count = 1 : i64, dimension_numbers = "
                   "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, padding = "
                   "dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>, window_strides = array<i64: 1, 2>, window_reversal = "
                   "dense<true> : tensor<2xi1>}> : (tensor<2x8x6x4xf32>, tensor<3x2x4x5xf32>) -> tensor<2x8x3x5xf32>\n",
                   image, "tensor<2x8x3x5xf32>")
              .find("dims: \"nhwi,hwio->nhwo\", strides: [1, 2], low: [1, 0], high: [1, 0], reverse: true}") !=
          std::string::npos);
}

TEST_CASE("reductions over windows are poolings if they begin with nothing") {
    CHECK(reduced("stablehlo.maximum", "0xFF800000").find("{max_pool: ") != std::string::npos);
    CHECK(reduced("stablehlo.add", "0.000000e+00").find(", window: [3], dim: [1], strides: [2], low: [1]}") !=
          std::string::npos);
    CHECK(reduced("stablehlo.maximum", "0.000000e+00") == "E0804 a reduction over windows by a rule of its own");
    CHECK(reduced("stablehlo.multiply", "1.000000e+00") == "E0804 a reduction over windows by a rule of its own");
    CHECK(reduced("stablehlo.add", "0", "i32") == "E0804 a reduction over windows by a rule of its own");
}

TEST_CASE("a convolution without a counterpart, or of numbers that do not fit, is refused") {
    CHECK(
        imported("    %9 = stablehlo.convolution(%0, %1) dim_numbers = [b, f]x[i, o]->[b, f], window = {} "
                 "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4xf32>, tensor<4x5xf32>) -> "
                 "tensor<2x5xf32>\n",
                 "%0: tensor<2x4xf32>, %1: tensor<4x5xf32>",
                 "tensor<2x5xf32>") == "E0804 a convolution along no dim, or along more than 3");
    CHECK(imported(
              "    %9 = stablehlo.convolution(%0, %1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} "
              "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x3xi32>, tensor<2x3x5xi32>) "
              "-> tensor<2x3x5xi32>\n",
              "%0: tensor<2x4x3xi32>, %1: tensor<2x3x5xi32>",
              "tensor<2x3x5xi32>") == "E0804 a convolution of whole numbers");
    CHECK(convolved("stride = [0, 1]", "", "tensor<2x5x6x5xf32>").starts_with("E0801"));
    CHECK(convolved("pad = [[1, 1]]", "", "tensor<2x5x6x5xf32>").starts_with("E0801"));
    CHECK(convolved("reverse = [perhaps, true]", "", "tensor<2x5x6x5xf32>").starts_with("E0801"));
}

} // namespace shard
