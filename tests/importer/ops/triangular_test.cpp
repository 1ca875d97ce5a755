// Equations of triangular matrices: what is refused. (Numbers: the recorded program `triangular`.)
#include "importer/program/import_program.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

// The model, or the first thing that is said.
std::string solved(const std::string& a, const std::string& b, const std::string& op) {
    Sources sources;
    const int file = sources.add(
        "p.mlir", fmt::format("func.func @main(%a: tensor<{0}xf32>, %b: tensor<{1}xf32>) -> tensor<{1}xf32> {{\n"
                              "  %r = {2} : (tensor<{0}xf32>, tensor<{1}xf32>) -> tensor<{1}xf32>\n"
                              "  return %r : tensor<{1}xf32>\n}}\n",
                              a, b, op));
    Diagnostics diagnostics;
    const std::optional<ImportedProgram> program = import_program(sources, file, {}, diagnostics);
    return program ? program->model : diagnostics.all().at(0).code + " " + diagnostics.all().at(0).message;
}

std::string of_stablehlo(const std::string& left) {
    return "\"stablehlo.triangular_solve\"(%a, %b) <{left_side = " + left +
           ", lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}>";
}

std::string of_lapack(const std::string& config) {
    return "stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {backend_config = \"\", mhlo.backend_config = {" + config +
           "}}";
}

const std::string whole = "diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8";

} // namespace

TEST_CASE("triangular equations are written out, as StableHLO says them and as JAX calls LAPACK") {
    for (const std::string& op : {of_stablehlo("true"), of_lapack(whole)})
        CHECK(solved("4x4", "4x3", op).find("result: {einsum: \"xy,yz->xz\", in: [") != std::string::npos);
    CHECK(solved("1x1", "1x3", of_stablehlo("true")).find("div: {div: [1, ") != std::string::npos);
}

TEST_CASE("matrices that do not fit, and calls that do not say what they solve, are refused") {
    const std::string refusal = "E0801 stablehlo.triangular_solve takes square matrices, and as many rows or columns";
    CHECK(solved("4x3", "4x3", of_stablehlo("true")) == refusal);
    CHECK(solved("4x4", "3x4", of_stablehlo("true")) == refusal);
    CHECK(solved("4x4", "4x3", of_stablehlo("false")) == refusal);
    CHECK(solved("2x4x4", "3x4x3", of_stablehlo("true")) == refusal);
    CHECK(solved("4", "4", of_stablehlo("true")) == refusal);
    const std::string whole_of_stablehlo = of_stablehlo("true");
    for (const std::string left : {"left_side = true, ", "lower = true, ", ", unit_diagonal = false"}) {
        std::string part = whole_of_stablehlo;
        part.erase(part.find(left), left.size());
        CHECK(solved("4x4", "4x3", part).starts_with("E0801 stablehlo.triangular_solve says its side"));
    }
    std::string other = whole_of_stablehlo;
    other.replace(other.find("NO_TRANSPOSE"), 12, "TRANSPOSE_INVALID");
    CHECK(solved("4x4", "4x3", other).starts_with("E0801 stablehlo.triangular_solve says its side"));
    for (const std::string config :
         {"", "diag = 78 : ui8", "diag = 1 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8"})
        CHECK(solved("4x4", "4x3", of_lapack(config)).starts_with("E0801 stablehlo.custom_call says its side"));
    CHECK(solved("4x4", "4x3", "stablehlo.custom_call @lapack_spotrf_ffi(%a, %b)").starts_with("E0804 "));
}

} // namespace shard
