#include "importer/program/import_program.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace shard;

TEST_CASE("weights that a program closes over are no parameters, and it says so") {
    const auto codes = [](const std::string& elements, const std::string& body) {
        Diagnostics diagnostics;
        Sources sources;
        const int file = sources.add(
            "t.mlir",
            fmt::format("module @m {{\n  func.func public @main(%0: tensor<4x32xf32>) -> (tensor<4x64xf32>) {{\n"
                        "    %1 = stablehlo.constant dense<{}> : tensor<64x32xf32>\n{}"
                        "    return %9 : tensor<4x64xf32>\n  }}\n}}\n",
                        elements, body));
        const ImportRequest request = {[](const std::string&) { return false; }};
        REQUIRE(import_program(sources, file, request, diagnostics).has_value());
        std::string text;
        for (const Diagnostic& diagnostic : diagnostics.all())
            text += diagnostic.code + " " + diagnostic.message + "\n";
        return text;
    };
    std::string bytes = "\"0x";
    for (int i = 0; i < 64 * 32; ++i) bytes += i % 2 == 0 ? "0000803f" : "000000c0";
    bytes += "\"";
    const std::string product =
        "    %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>\n"
        "    %9 = stablehlo.dot_general %0, %2, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x64xf32>) "
        "-> "
        "tensor<4x64xf32>\n";
    CHECK(codes(bytes, product) ==
          "W0808 the program closes over an array that it multiplies by, 8.00 KiB: constants, not parameters\n");
    CHECK(codes("1.5", product) == "");
}
