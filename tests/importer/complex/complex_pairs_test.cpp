// What is read of complex numbers: both forms of the text, names of parts, and what has none.
// (Numbers: the recorded programs complex_numbers, complex_ropes, fourier and states.)
#include "importer/complex/complex_pairs.h"

#include "importer/program/import_program.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

// The model, or the first problem.
std::string imported(const std::string& arguments, const std::string& results, const std::string& body,
                     ImportAs as = ImportAs::unsaid) {
    Sources sources;
    const int file =
        sources.add("p.mlir", fmt::format("module @m {{\n  func.func public @main({}) -> {} {{\n{}  }}\n}}\n",
                                          arguments, results, body));
    Diagnostics diagnostics;
    ImportRequest request = {[](const std::string& path) { return path.starts_with("params"); }};
    request.as = as;
    const std::optional<ImportedProgram> program = import_program(sources, file, request, diagnostics);
    if (!program) return diagnostics.all().at(0).code + " " + diagnostics.all().at(0).message;
    return program->model;
}

const std::string complex = "tensor<4xcomplex<f32>>";

std::string of_one(const std::string& op) {
    return imported("%0: " + complex, complex, fmt::format("    %1 = {}\n    return %1 : {}\n", op, complex));
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string transformed(i64 length, const std::string& text) {
    return imported(fmt::format("%0: tensor<2x{}xcomplex<f32>>", length),
                    fmt::format("tensor<2x{}xcomplex<f32>>", length),
                    fmt::format("    %1 = {}\n    return %1 : tensor<2x{}xcomplex<f32>>\n", text, length));
}

} // namespace

TEST_CASE("complex numbers: arguments and results are two, called by their parts") {
    const std::string model =
        imported("%0: tensor<4xcomplex<f32>> {tf.aliasing_output = 1 : i32} loc(\"state['h']\")",
                 "(tensor<4xf32> {jax.result_info = \"result[0]\"}, tensor<4xcomplex<f32>> {jax.result_info = "
                 "\"result[1]['h']\"})",
                 "    %1 = stablehlo.real %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>\n"
                 "    %2 = stablehlo.negate %0 : tensor<4xcomplex<f32>>\n"
                 "    return %1, %2 : tensor<4xf32>, tensor<4xcomplex<f32>>\n",
                 ImportAs::step);
    CHECK(has(model, "state_h_real: {shape: [4]"));
    CHECK(has(model, "updates:\n  state_h_real: state_h_real_new\n  state_h_imag: state_h_imag_new\n"));
}

TEST_CASE("complex numbers: constants are pairs, in digits and in bytes, and parts that are 0 are left out") {
    const std::string digits = of_one("stablehlo.multiply %0, %c : " + complex);
    CHECK(has(digits, "E0801")); // %c is not there
    const auto with = [](const std::string& elements) {
        return imported(
            "%0: " + complex, complex,
            fmt::format("    %c = stablehlo.constant dense<{0}> : {1}\n    %1 = stablehlo.add %0, %c : {1}\n"
                        "    return %1 : {1}\n",
                        elements, complex));
    };
    CHECK(has(with("(1.5, -2.0)"), "{add: [arg0, 1.5]}"));
    CHECK(has(with("(1.5, -2.0)"), "{add: [arg1, -2]}"));
    CHECK(!has(with("(1.5, 0.000000e+00)"), "{add: [arg1"));
    CHECK(has(with("[(1.0, 5.0), (2.0, 6.0), (3.0, 7.0), (4.0, 8.0)]"), "{constant: [5, 6, 7, 8], shape: [4]}"));
    CHECK(has(with("\"0x0000C03F000000C0\""), "{add: [arg1, -2]}"));
    CHECK(has(with("(1.5, -2.0), 3.0"), "E0801"));
    CHECK(has(with("[1.5, 2.0, 3.0]"), "E0801 stablehlo.constant has elements of two numbers each"));
    CHECK(has(with("\"0x0000C03F\""), "E0801 stablehlo.constant has elements of two numbers each"));
}

TEST_CASE("complex numbers: what is not supported is refused where it stands") {
    CHECK(of_one("stablehlo.cbrt %0 : " + complex) == "E0803 op 'stablehlo.cbrt' is not supported for complex numbers");
    CHECK(has(of_one("stablehlo.multiply %0 : " + complex), "E0801 stablehlo.multiply takes 2 operands"));
    const std::string compared = imported("%0: " + complex, "tensor<4xi1>",
                                          "    %1 = stablehlo.compare LT, %0, %0 : (tensor<4xcomplex<f32>>, "
                                          "tensor<4xcomplex<f32>>) -> tensor<4xi1>\n    return %1 : tensor<4xi1>\n");
    CHECK(compared == "E0801 stablehlo.compare compares complex numbers by EQ or NE");
    CHECK(has(imported("%0: tensor<4xcomplex<f32>>, %1: tensor<complex<f32>>", "tensor<complex<f32>>",
                       "    %2 = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [0] : "
                       "(tensor<4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>\n"
                       "    return %2 : tensor<complex<f32>>\n"),
              "E0804 stablehlo.reduce of complex numbers by a rule of its own"));
}

TEST_CASE("Fourier transforms: both forms, and lengths that do not fit") {
    const std::string type = ": (tensor<2x6xcomplex<f32>>) -> tensor<2x6xcomplex<f32>>";
    const std::string pretty = transformed(6, "stablehlo.fft %0, type = FFT, length = [6] " + type);
    CHECK(has(pretty, "{cos: "));
    CHECK(transformed(6, "\"stablehlo.fft\"(%0) <{fft_length = array<i64: 6>, fft_type = #stablehlo<fft_type FFT>}> " +
                             type) == pretty);
    CHECK(has(transformed(6, "stablehlo.fft %0, type = FFT, length = [8] " + type), "E0801 stablehlo.fft has lengths"));
    CHECK(has(transformed(6, "stablehlo.fft %0, type = DCT, length = [6] " + type), "E0801 stablehlo.fft needs"));
    CHECK(
        has(transformed(6, "stablehlo.fft %0, type = RFFT, length = [6] " + type), "E0801 stablehlo.fft has lengths"));
    CHECK(has(transformed(6, "stablehlo.fft %0, type = FFT, length = [2, 2, 6] " + type), "E0801 stablehlo.fft needs"));
    // 8209 is prime.
    const std::string prime = ": (tensor<2x8209xcomplex<f32>>) -> tensor<2x8209xcomplex<f32>>";
    CHECK(has(transformed(8209, "stablehlo.fft %0, type = FFT, length = [8209] " + prime),
              "E0804 a Fourier transform of length 8209"));
    const std::string whole = ": (tensor<2x1048576xcomplex<f32>>) -> tensor<2x1048576xcomplex<f32>>";
    CHECK(has(transformed(1048576, "stablehlo.fft %0, type = FFT, length = [1048576] " + whole), "128"));
}

} // namespace shard
