#include "importer/program/import_program.h"

#include <doctest/doctest.h>

#include <fmt/format.h>

using namespace shard;

namespace {

// The graph that a constant of this type gives, before what adds it to an argument.
std::string imported(const std::string& elements, const std::string& type) {
    Diagnostics diagnostics;
    Sources sources;
    const int file = sources.add("t.mlir", fmt::format("module @m {{\n  func.func public @main(%0: tensor<{0}>) -> "
                                                       "(tensor<{0}>) {{\n    %1 = stablehlo.constant dense<{1}> : "
                                                       "tensor<{0}>\n    %9 = stablehlo.{2} %0, %1 : tensor<{0}>\n"
                                                       "    return %9 : tensor<{0}>\n  }}\n}}\n",
                                                       type, elements, type.ends_with("i1") ? "and" : "add"));
    const ImportRequest request = {[](const std::string&) { return false; }};
    const std::optional<ImportedProgram> program = import_program(sources, file, request, diagnostics);
    if (!program) return diagnostics.all().at(0).code + " " + diagnostics.all().at(0).message;
    const size_t begin = program->model.find("{constant: ");
    return program->model.substr(begin, program->model.find("}", begin) - begin + 1);
}

} // namespace

TEST_CASE("a few numbers are listed, whichever way the program has them") {
    CHECK(imported("[1.5, -2.0, 0.0]", "3xf32") == "{constant: [1.5, -2, 0], shape: [3]}");
    CHECK(imported("\"0x0000C03F000000C000000000\"", "3xf32") == "{constant: [1.5, -2, 0], shape: [3]}");
    CHECK(imported("\"0xC03F00C00000\"", "3xbf16") == "{constant: [1.5, -2, 0], shape: [3], dtype: bf16}");
    CHECK(imported("\"0x010001\"", "3xi1") == "{constant: [true, false, true], shape: [3], dtype: bool}");
    CHECK(imported("\"0x0D02\"", "10xi1") ==
          "{constant: [true, false, true, true, false, false, false, false, false, true], shape: [10], dtype: bool}");
    CHECK(imported("\"0x0000C03F0000\"", "3xf32") ==
          "E0801 stablehlo.constant has bytes that are not those of its elements");
}

TEST_CASE("many numbers are their bytes") {
    std::string numbers, bytes;
    for (int i = 0; i < 1025; ++i) {
        numbers += fmt::format("{}{}", i == 0 ? "" : ", ", i % 2 == 0 ? 1.0 : -2.0);
        bytes += i % 2 == 0 ? "0000803f" : "000000c0";
    }
    const std::string entry = fmt::format("{{constant: \"0x{}\", shape: [1025]}}", bytes);
    CHECK(imported("[" + numbers + "]", "1025xf32") == entry);
    CHECK(imported("\"0x" + bytes + "\"", "1025xf32") == entry);
    CHECK(imported("[" + numbers.substr(0, numbers.rfind(',')) + "]", "1024xf32").starts_with("{constant: [1, -2, 1"));
}
