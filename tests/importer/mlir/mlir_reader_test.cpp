#include "importer/mlir/mlir_reader.h"
#include "importer/program/import_program.h"
#include "plans/disk/file.h"
#include "tests/fuzz/reading_fuzz.h"
#include "tests/support/text_mutator.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "test_paths.h"

using namespace shard;

namespace {

std::optional<MlirModule> read(const std::string& text, std::string& problem) {
    Sources sources;
    const int file = sources.add("program.mlir", text);
    Diagnostics diagnostics;
    std::optional<MlirModule> module = read_mlir(sources, file, diagnostics);
    if (diagnostics.has_error()) {
        const Diagnostic& first = diagnostics.all().front();
        problem = fmt::format("{} {}:{} {}", first.code, first.labels[0].span.line, first.labels[0].span.column,
                              first.message);
    }
    return module;
}

std::string problem_of(const std::string& text) {
    std::string problem;
    CHECK_FALSE(read(text, problem).has_value());
    return problem;
}

std::string in_main(const std::string& ops) {
    return "func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {\n" + ops + "\n}\n";
}

std::optional<ImportedProgram> import(const Sources& sources, int file, Diagnostics& diagnostics) {
    return import_program(sources, file, {}, diagnostics);
}

} // namespace

TEST_CASE("functions, values, types and places of a pretty program are read") {
    std::string problem;
    const std::optional<MlirModule> module = read(
        "#loc1 = loc(\"params['w']\")\n"
        "module @jit_f {\n"
        "  func.func public @main(%arg0: tensor<2x3xf32> loc(#loc1), %arg1: tensor<i32> {k = \"v\"} loc(#loc4)) -> "
        "(tensor<2x3xf32> {jax.result_info = \"result\"}, tensor<i32>) {\n"
        "    %0:2 = stablehlo.while(%i = %arg1, %x = %arg0) : tensor<i32>, tensor<2x3xf32>\n"
        "    cond {\n"
        "      %1 = stablehlo.compare LT, %i, %i, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "      stablehlo.return %1 : tensor<i1>\n"
        "    } do {\n"
        "      stablehlo.return %i, %x : tensor<i32>, tensor<2x3xf32>\n"
        "    } loc(#loc3)\n"
        "    return %0#1, %0#0 : tensor<2x3xf32>, tensor<i32>\n"
        "  }\n"
        "}\n"
        "#loc2 = loc(\"model.py\":7:3 to :9)\n"
        "#loc3 = loc(\"f/while\"(callsite(#loc2 at #loc2)))\n"
        "#loc4 = loc(fused[#loc1, \"step\"])\n",
        problem);
    REQUIRE_MESSAGE(module.has_value(), problem);
    CHECK(module->name == "jit_f");
    REQUIRE(module->functions.size() == 1);
    const MlirFunction& main = module->functions[0];
    CHECK(main.name == "main");
    REQUIRE(main.body.arguments.size() == 2);
    CHECK(text_of(module->type(main.body.arguments[0])) == "tensor<2x3xf32>");
    CHECK(module->location_name(module->values[main.body.arguments[0]].location) == "params['w']");
    REQUIRE(main.body.ops.size() == 2);
    const MlirOp& loop = main.body.ops[0];
    CHECK(loop.name == "stablehlo.while");
    CHECK(loop.operands == std::vector<MlirId>{main.body.arguments[1], main.body.arguments[0]});
    REQUIRE(loop.regions.size() == 2);
    CHECK(loop.regions[1].ops[0].operands == loop.regions[1].arguments);
    CHECK(module->location_name(loop.location) == "f/while");
    CHECK(main.body.ops[1].operands == std::vector<MlirId>{loop.results[1], loop.results[0]});
}

TEST_CASE("what is no program is refused at its place") {
    CHECK(problem_of("") == "E0801 1:1 a function is expected here, and the file ends");
    CHECK(problem_of("model: x\n") == "E0801 2:1 a function is expected here, and the file ends");
    CHECK(problem_of("model\r") == "E0801 1:6 a function is expected here, and the file ends");
    CHECK(problem_of(in_main("  %0 = stablehlo.tanh %b : tensor<2x3xf32>")) == "E0801 2:23 %b is not defined above");
    CHECK(problem_of(in_main("  %0 = stablehlo.reshape %a : (tensor<3xf32>) -> tensor<3xf32>")) ==
          "E0801 2:8 operand 0 of stablehlo.reshape is tensor<2x3xf32>, and its type here is tensor<3xf32>");
    CHECK(problem_of(in_main("  %0:2 = stablehlo.tanh %a : (tensor<2x3xf32>) -> tensor<2x3xf32>")) ==
          "E0801 2:10 stablehlo.tanh has 2 results and 1 types for them");
    CHECK(problem_of(in_main("  %0 = \"stablehlo.tanh(%a) : tensor<2x3xf32>")) ==
          "E0801 2:8 this quote is never closed");
    CHECK(problem_of("func.func @main(%a: tensor<?x3xf32>) {\n}\n") ==
          "E0804 1:28 a size that is not known before the program runs");
    CHECK(problem_of("func.func @main(%a: tensor<9223372036854775807xf32>) {\n}\n") ==
          "E0802 1:21 a tensor of more than 2^60 bytes");
    CHECK(problem_of(std::string("func.func @main() {\n  \0\n}\n", 25)) ==
          "E0801 2:3 an op is expected here, and there is '\\u0000'");
}

TEST_CASE("a name has one meaning in a region, and an inner one in a region inside") {
    CHECK(
        problem_of(in_main("  %0 = stablehlo.tanh %a : tensor<2x3xf32>\n  %0 = stablehlo.sine %0 : tensor<2x3xf32>")) ==
        "E0801 3:8 %0 is defined above already");
    CHECK(problem_of("func.func @main(%a: tensor<f32>, %a: tensor<i32>) {\n}\n") ==
          "E0801 1:34 %a is defined above already");
    std::string problem;
    CHECK(read(in_main("  %0 = \"stablehlo.case\"(%a) ({\n    %1 = stablehlo.tanh %a : tensor<2x3xf32>\n  }, {\n"
                       "    %1 = stablehlo.tanh %a : tensor<2x3xf32>\n  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
                       "  %1 = stablehlo.tanh %0 : tensor<2x3xf32>\n  return %1 : tensor<2x3xf32>"),
               problem));
    CHECK(problem == "");
}

TEST_CASE("a function returns what it says") {
    CHECK(problem_of(in_main("  return : tensor<2x3xf32>")) ==
          "E0801 2:3 func.return has 0 operands and 1 types for them");
    CHECK(problem_of(in_main("  return %a, %a : tensor<2x3xf32>, tensor<2x3xf32>")) ==
          "E0801 2:3 func.return has 2 operands and 1 types for them");
    CHECK(problem_of(in_main("  return %a : tensor<3x2xf32>")) ==
          "E0801 2:3 operand 0 of func.return is tensor<2x3xf32>, and its type here is tensor<3x2xf32>");
}

TEST_CASE("aliases of aliases are refused before they fill the memory") {
    std::string text = "#a0 = [1, 1, 1, 1, 1, 1, 1, 1]\n";
    for (int i = 1; i < 40; ++i)
        text += fmt::format("#a{0} = [#a{1}, #a{1}, #a{1}, #a{1}, #a{1}, #a{1}, #a{1}, #a{1}]\n", i, i - 1);
    CHECK(problem_of(text).starts_with("E0802 7:"));
}

TEST_CASE("a text may begin with a byte order mark") {
    const std::string text = "\xef\xbb\xbf" + in_main("  return %a : tensor<2x3xf32>");
    std::string problem;
    CHECK(read(text, problem));
    CHECK(looks_like_mlir(text));
}

TEST_CASE("what nests too deep is refused, however it nests") {
    const auto nested = [](const std::string& open, size_t times) {
        std::string text;
        for (size_t i = 0; i < times; ++i) text += open;
        return text;
    };
    CHECK(problem_of("#a = " + nested("[", 100'000)).starts_with("E0802 1:"));
    CHECK(problem_of("#a = loc(" + nested("\"x\"(", 100'000)).starts_with("E0802 1:"));
    CHECK(problem_of("func.func @main(%a: " + nested("complex<", 100'000)).starts_with("E0802 1:"));
    CHECK(problem_of(nested("module {\n", 100'000)).starts_with("E0802 "));
}

TEST_CASE("a program is told from a model by its first words") {
    CHECK(looks_like_mlir("#loc = loc(unknown)\n// a comment\n\nmodule @jit_f attributes {} {\n"));
    CHECK(looks_like_mlir("\"builtin.module\"() ({\n"));
    CHECK(looks_like_mlir("  func.func @main() {\n"));
    CHECK_FALSE(looks_like_mlir("# a model\nmodel: mlp\ninputs:\n"));
    CHECK_FALSE(looks_like_mlir("module: {a: 1}\n"));
    CHECK_FALSE(looks_like_mlir(""));
}

TEST_CASE("a program in which anything is changed is refused in words, or imported") {
    const char* const wanted = std::getenv("SHARDC_MUTANTS");
    const size_t count = wanted == nullptr ? 600 : static_cast<size_t>(std::atoll(wanted));
    std::vector<std::string> texts;
    for (const char* name : {"accumulate", "mlp_loss.generic", "scanned_layers", "order", "embedding"}) {
        std::string problem;
        texts.push_back(
            read_file(fmt::format("{}/tests/importer/program/programs/{}.mlir", SHARDC_SOURCE_DIR, name), problem)
                .value_or(""));
        REQUIRE(texts.back().size() > 100);
    }
    size_t imported = 0;
    for (size_t n = 0; n < count; ++n) {
        TextMutator mutate(static_cast<std::uint32_t>(n), " ,:()[]{}<>=%#@\"x\r");
        const std::string changed = mutate(texts[n % texts.size()]);
        Sources sources;
        Diagnostics diagnostics;
        imported += import(sources, sources.add("program.mlir", changed), diagnostics).has_value() ? 1 : 0;
        check_reader<std::optional<ImportedProgram>>(reinterpret_cast<const unsigned char*>(changed.data()),
                                                     changed.size(), import);
    }
    // Names and places may change, and most else may not.
    CHECK(imported > count / 20);
    CHECK(imported < count);
}
