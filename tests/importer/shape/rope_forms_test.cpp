// rope in place of what computes it, and what stays written out. That the numbers stay is proved by the recorded
// programs (tests/importer/program), of which one has these forms.
#include "importer/program/import_program.h"
#include "plans/disk/file.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "test_paths.h"

using namespace shard;

namespace {

std::string model_of(const std::string& text) {
    Sources sources;
    const int file = sources.add("program.mlir", text);
    Diagnostics diagnostics;
    const std::optional<ImportedProgram> program = import_program(sources, file, {}, diagnostics);
    REQUIRE_MESSAGE(program.has_value(), diagnostics.all().at(0).message);
    return program->model;
}

// The entry that makes a value, without the place that it is from.
std::string entry_of(const std::string& model, const std::string& value) {
    const size_t begin = model.find("- " + value + ": ");
    REQUIRE(begin != std::string::npos);
    const std::string line = model.substr(begin + 2, model.find('\n', begin) - begin - 2);
    const size_t at = line.find(", at: ");
    return at == std::string::npos ? line : line.substr(0, at) + "}";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Of x (2, 6, 3, 8) the halves %a and %b, turned by %c and %s (2, 6, 3, 4): the cosine and the sine of %angle (6, 4),
// of positions that are counted and a table of frequencies.
struct Rotation {
    std::string table = "1.0, 0.1, 0.01, 0.001";
    std::string positions =
        "%n = stablehlo.iota dim = 0 : tensor<6xi32>\n  %p = stablehlo.convert %n : (tensor<6xi32>) -> tensor<6xf32>";
    std::string angle = "%angle = stablehlo.multiply %pw, %fw : tensor<6x4xf32>";
    std::string left = "%l = stablehlo.subtract %ac, %bs : tensor<2x6x3x4xf32>";
    std::string turned_by_cosine = "%b"; // beside %a
    std::string more_arguments = "", more_results = "";
    std::string sine =
        "%s = stablehlo.broadcast_in_dim %sine, dims = [1, 3] : (tensor<6x4xf32>) -> tensor<2x6x3x4xf32>";

    std::string entry() const { return entry_of(model_of(text()), "result"); }
    std::string text() const {
        return "func.func @main(%x: tensor<2x6x3x8xf32>" + more_arguments + ") -> (tensor<2x6x3x8xf32>" +
               (more_results.empty() ? "" : ", tensor<2x6x3x4xf32>") + ") {\n  " + positions + R"(
  %f = stablehlo.constant dense<[)" +
               table + R"(]> : tensor<4xf32>
  %pw = stablehlo.broadcast_in_dim %p, dims = [0] : (tensor<6xf32>) -> tensor<6x4xf32>
  %fw = stablehlo.broadcast_in_dim %f, dims = [1] : (tensor<4xf32>) -> tensor<6x4xf32>
  )" + angle + R"(
  %cosine = stablehlo.cosine %angle : tensor<6x4xf32>
  %sine = stablehlo.sine %angle : tensor<6x4xf32>
  %c = stablehlo.broadcast_in_dim %cosine, dims = [1, 3] : (tensor<6x4xf32>) -> tensor<2x6x3x4xf32>
  )" + sine + R"(
  %a = stablehlo.slice %x [0:2, 0:6, 0:3, 0:4] : (tensor<2x6x3x8xf32>) -> tensor<2x6x3x4xf32>
  %b = stablehlo.slice %x [0:2, 0:6, 0:3, 4:8] : (tensor<2x6x3x8xf32>) -> tensor<2x6x3x4xf32>
  %ac = stablehlo.multiply %a, %c : tensor<2x6x3x4xf32>
  %bs = stablehlo.multiply %b, %s : tensor<2x6x3x4xf32>
  %bc = stablehlo.multiply %c, )" +
               turned_by_cosine + R"( : tensor<2x6x3x4xf32>
  %as = stablehlo.multiply %a, %s : tensor<2x6x3x4xf32>
  )" + left + R"(
  %r = stablehlo.add %bc, %as : tensor<2x6x3x4xf32>
  %y = stablehlo.concatenate %l, %r, dim = 3 : (tensor<2x6x3x4xf32>, tensor<2x6x3x4xf32>) -> tensor<2x6x3x8xf32>
  return %y)" + (more_results.empty() ? "" : ", " + more_results) +
               " : tensor<2x6x3x8xf32>" + (more_results.empty() ? "" : ", tensor<2x6x3x4xf32>") + "\n}\n";
    }
};

} // namespace

TEST_CASE("rotations as Gemma, MaxText, keras-hub, torch and GPT-J write them are rope, others stay written out") {
    std::string problem;
    const std::string model =
        model_of(read_file(SHARDC_SOURCE_DIR "/tests/importer/program/programs/ropes.mlir", problem).value_or(""));
    CAPTURE(model);
    CHECK(entry_of(model, "result_0") == "result_0: {rope: x}");
    CHECK(entry_of(model, "result_1") == "result_1: {rope: [x, positions], theta: 500000}");
    CHECK(entry_of(model, "result_2") == "result_2: {rope: x}");
    CHECK(has(model, ", theta: 1000000")); // of heads before the length: transposed there and back
    CHECK(entry_of(model, "result_3").starts_with("result_3: {transpose: rope"));
    CHECK(has(entry_of(model, "result_4"), "{reshape: transpose_")); // pairs of neighbours
    CHECK(has(entry_of(model, "result_5"), ", slice_2], dim: 3"));   // the first part of a head alone
    CHECK(has(entry_of(model, "result_6"), "{rope: cast_"));         // of bf16, in f32
    CHECK(entry_of(model, "result_7") == "result_7: {rope: x, scaling: [4]}");
    CHECK(has(entry_of(model, "result_8"), "{rope: [slice_")); // one position for each of the batch
    CHECK(has(entry_of(model, "result_9"), "{reshape: rope_"));
    CHECK(has(entry_of(model, "result_10"), "{reshape: rope_"));
    CHECK(has(entry_of(model, "result_11"), "{rope: [x, reshape_"));
    CHECK(entry_of(model, "result_12") == "result_12: {rope: wide, scaling: [8, 1, 4, 100]}");
    CHECK(has(model, "rope_6: {rope: wide, scaling: [4, 3, 10]"));
    CHECK(entry_of(model, "result_13") == "result_13: {mul: [rope_6, 1.1386294]}");
    // Of tables; what is outside of one has its end, or no number.
    CHECK(entry_of(model, "result_14") == "result_14: {rope: [x, min]}");
    CHECK(has(model, "- min: {min: [max, 19]"));
    CHECK(has(entry_of(model, "result_15"), "{rope: [x, select_"));
    CHECK(entry_of(model, "result_16") == "result_16: {rope: x}");
    for (int i = 17; i < 23; ++i)
        CHECK(has(entry_of(model, fmt::format("result_{}", i)), fmt::format("result_{}: {{concatenate: [sub", i)));
}

TEST_CASE("a rotation is rope if its frequencies are powers of one theta, and none if one is another") {
    CHECK(Rotation{}.entry() == "result: {rope: arg0}");
    CHECK(Rotation{.table = "1.0, 0.0316227766, 0.001, 3.16227766e-05"}.entry() ==
          "result: {rope: arg0, theta: 1000000}");
    CHECK(Rotation{.table = "0.5, 0.05, 0.005, 0.0005"}.entry() == "result: {rope: arg0, scaling: [2]}");
    CHECK(has(Rotation{.table = "1.0, 0.1, 0.01001, 0.001"}.entry(), "{concatenate: "));
    CHECK(has(Rotation{.table = "1.0, 0.1, 0.01, 0.0"}.entry(), "{concatenate: "));
    CHECK(has(Rotation{.table = "1.0, -0.1, 0.01, 0.001"}.entry(), "{concatenate: "));
}

TEST_CASE("what is turned the other way, or of another value, is no rope") {
    CHECK(has(Rotation{.left = "%l = stablehlo.add %ac, %bs : tensor<2x6x3x4xf32>"}.entry(), "{concatenate: "));
    CHECK(has(Rotation{.left = "%l = stablehlo.subtract %bs, %ac : tensor<2x6x3x4xf32>"}.entry(), "{concatenate: "));
    CHECK(has(Rotation{.turned_by_cosine = "%a"}.entry(), "{concatenate: "));
    CHECK(has(Rotation{.turned_by_cosine = "%y0", .more_arguments = ", %y0: tensor<2x6x3x4xf32>"}.entry(),
              "{concatenate: "));
    // Angles of heads in place of positions; a cosine that is the sine.
    CHECK(has(
        Rotation{
            .sine = "%s = stablehlo.broadcast_in_dim %cosine, dims = [1, 3] : (tensor<6x4xf32>) -> tensor<2x6x3x4xf32>"}
            .entry(),
        "{concatenate: "));
}

TEST_CASE("positions are counted from 0, or given") {
    const auto by = [](const std::string& positions, const std::string& argument) {
        return Rotation{.positions = positions, .more_arguments = ", %n: tensor<" + argument + ">"}.entry();
    };
    CHECK(by("%p = stablehlo.convert %n : (tensor<6xi32>) -> tensor<6xf32>", "6xi32") ==
          "result: {rope: [arg0, arg1]}");
    CHECK(by("%p = stablehlo.convert %n : (tensor<6xbf16>) -> tensor<6xf32>", "6xbf16") ==
          "result: {rope: [arg0, arg1]}");
    CHECK(by("%p = stablehlo.convert %n : (tensor<6xf64>) -> tensor<6xf32>", "6xf64") ==
          "result: {rope: [arg0, cast]}");
    CHECK(by("%p = stablehlo.tanh %n : tensor<6xf32>", "6xf32") == "result: {rope: [arg0, tanh]}");
    CHECK(by("%p = stablehlo.slice %n [2:8] : (tensor<9xf32>) -> tensor<6xf32>", "9xf32") ==
          "result: {rope: [arg0, slice]}");
    CHECK(Rotation{.positions = R"(%m = stablehlo.iota dim = 0 : tensor<9xi32>
  %n = stablehlo.slice %m [3:9] : (tensor<9xi32>) -> tensor<6xi32>
  %p = stablehlo.convert %n : (tensor<6xi32>) -> tensor<6xf32>)"}
              .entry() == "result: {rope: [arg0, slice]}");
    CHECK(Rotation{.positions = R"(%m = stablehlo.iota dim = 0 : tensor<9xi32>
  %n = stablehlo.slice %m [0:6] : (tensor<9xi32>) -> tensor<6xi32>
  %p = stablehlo.convert %n : (tensor<6xi32>) -> tensor<6xf32>)"}
              .entry() == "result: {rope: arg0}");
    // Rounded to bf16 they are others: kept as they are.
    CHECK(Rotation{.positions = R"(%n = stablehlo.iota dim = 0 : tensor<6xi32>
  %m = stablehlo.convert %n : (tensor<6xi32>) -> tensor<6xbf16>
  %p = stablehlo.convert %m : (tensor<6xbf16>) -> tensor<6xf32>)"}
              .entry() == "result: {rope: [arg0, cast]}");
}

TEST_CASE("angles may be read by others, what is between them and the result may not") {
    CHECK(Rotation{.more_results = "%s"}.entry() == "result: {rope: arg0}");
    CHECK(has(model_of(Rotation{.more_results = "%as"}.text()), "result_2: {concatenate: "));
    CHECK(has(Rotation{.angle = "%angle = stablehlo.add %pw, %fw : tensor<6x4xf32>"}.entry(), "{concatenate: "));
}

TEST_CASE("in bf16 sines of f32 are rounded once, and those of bf16 angles are others") {
    std::string text = Rotation{}.text();
    const auto replace = [](std::string in, const std::string& from, const std::string& to) {
        for (size_t at = 0; (at = in.find(from, at)) != std::string::npos; at += to.size())
            in.replace(at, from.size(), to);
        return in;
    };
    text = replace(replace(text, "3x8xf32", "3x8xbf16"), "3x4xf32", "3x4xbf16");
    text = replace(text, "%cosine, dims = [1, 3] : (tensor<6x4xf32>)", "%nc, dims = [1, 3] : (tensor<6x4xbf16>)");
    text = replace(text, "%sine, dims = [1, 3] : (tensor<6x4xf32>)", "%ns, dims = [1, 3] : (tensor<6x4xbf16>)");
    const std::string turns = "  %c = ";
    const std::string rounded = R"(  %nc = stablehlo.convert %cosine : (tensor<6x4xf32>) -> tensor<6x4xbf16>
  %ns = stablehlo.convert %sine : (tensor<6x4xf32>) -> tensor<6x4xbf16>
)";
    CHECK(entry_of(model_of(replace(text, turns, rounded + turns)), "result") == "result: {rope: arg0}");
    std::string narrow =
        replace(text, turns, R"(  %na = stablehlo.convert %angle : (tensor<6x4xf32>) -> tensor<6x4xbf16>
  %nc = stablehlo.cosine %na : tensor<6x4xbf16>
  %ns = stablehlo.sine %na : tensor<6x4xbf16>
)" + turns);
    CHECK(has(entry_of(model_of(narrow), "result"), "{concatenate: "));
}

TEST_CASE("neighbours may be turned by what is rolled and chosen by its place, at frequencies that a switch scales") {
    std::string problem;
    const std::string program =
        read_file(SHARDC_SOURCE_DIR "/tests/importer/program/programs/stacked_layers.mlir", problem).value_or("");
    const std::string model = model_of(program);
    CAPTURE(model);
    CHECK(has(entry_of(model, "rope"), ", positions], scaling: [8, 1, 4, 256]}"));
    CHECK(has(entry_of(model, "rope_2"), ", positions], scaling: [8, 1, 4, 256]}"));
    CHECK(!has(model, "cos: "));
    // Turned the other way.
    std::string other = program;
    const std::string signs = "dense<[-1, 1]>";
    REQUIRE(other.find(signs) != std::string::npos);
    for (size_t at = 0; (at = other.find(signs, at)) != std::string::npos;)
        other.replace(at, signs.size(), "dense<[1, -1]>");
    CHECK(!has(model_of(other), "{rope: "));
}
