// Programs in place of models: what is wrong with them is said at their ops, and what is said of them is said by every
// command.
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace shard;

namespace {

struct Shell {
    MemoryFiles files;
    CommandResult operator()(const std::string& line) { return run_command(files, line); }
};

// The first error of a program whose last op makes its result, and where it is.
std::string problem_of(const std::string& ops, const std::string& type) {
    Shell shell;
    shell.files.files["p.mlir"] = fmt::format(
        "func.func @main(%a: tensor<4x2xf32>, %n: tensor<4x2xi32>, %p: tensor<4x2xi1>, %s: tensor<i32>) -> {1} "
        "{{\n{0}\n  return %0 : {1}\n}}\n",
        ops, type);
    const CommandResult result = shell("import p.mlir");
    CHECK(result.code == 2);
    CHECK(result.out == "");
    const size_t end = result.err.find('\n'), place = result.err.find("p.mlir:");
    return result.err.substr(place + 7, result.err.find('\n', place) - place - 7) + " " + result.err.substr(0, end);
}

const std::string floats = "tensor<4x2xf32>", wholes = "tensor<4x2xi32>";

} // namespace

TEST_CASE("a type that an op does not make is refused at the op") {
    CHECK(problem_of(
              "  %0 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<9x2xf32>",
              "tensor<9x2xf32>") == "2:8 error[E0801]: the program says f32 (9, 2), and this makes f32 (8, 2)");
    CHECK(problem_of("  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x2xf32>) -> tensor<4x2xf32>", floats) ==
          "2:8 error[E0801]: the program says f32 (4, 2), and this makes f32 (2, 4)");
    CHECK(problem_of("  %0 = \"stablehlo.add\"(%a, %a) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xi32>",
                     wholes) == "2:8 error[E0801]: the program says i32 (4, 2), and this makes f32 (4, 2)");
    CHECK(problem_of("  %0 = stablehlo.is_finite %a : (tensor<4x2xf32>) -> tensor<4x2xf32>", floats) ==
          "2:8 error[E0801]: the program says f32 (4, 2), and this makes bool (4, 2)");
    CHECK(problem_of("  %0 = stablehlo.reshape %a : (tensor<4x2xf32>) -> tensor<8xi32>", "tensor<8xi32>") ==
          "2:8 error[E0801]: the program says i32 (8,), and this makes f32 (8,)");
    CHECK(problem_of("  %c = stablehlo.constant dense<0.0> : tensor<f32>\n"
                     "  %0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [1] : "
                     "(tensor<4x2xf32>, tensor<f32>) -> tensor<4xi32>",
                     "tensor<4xi32>") == "3:8 error[E0801]: the program says i32 (4,), and this makes f32 (4,)");
    CHECK(problem_of("  %0 = \"stablehlo.add\"(%s, %n) : (tensor<i32>, tensor<4x2xi32>) -> tensor<4x2xi32>", wholes) ==
          "2:8 error[E0801]: stablehlo.add has operands of other shapes than its result");
}

TEST_CASE("a part of a list that the list does not have, and a pad by several numbers, are refused") {
    CHECK(problem_of("  %c = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>\n"
                     "  %0 = stablehlo.slice %c [2:2] : (tensor<2xf32>) -> tensor<1xf32>",
                     "tensor<1xf32>") == "3:8 error[E0226]: 'slice' cannot take [2:2:1] of dim 0 of constant (2,)");
    CHECK(problem_of("  %0 = stablehlo.pad %a, %a, low = [1, 0], high = [0, 0], interior = [0, 0] : (tensor<4x2xf32>, "
                     "tensor<4x2xf32>) -> tensor<5x2xf32>",
                     "tensor<5x2xf32>") == "2:8 error[E0801]: stablehlo.pad takes a value and a number to pad it with");
}

TEST_CASE("an op that the model refuses is refused at the op, with what it becomes") {
    CHECK(problem_of("  %0 = stablehlo.floor %n : tensor<4x2xi32>", wholes) ==
          "2:8 error[E0224]: 'floor' needs a floating-point type, and arg1 is i32");
    Shell shell;
    shell.files.files["p.mlir"] = "func.func @main(%a: tensor<2xi32>) -> tensor<2xi32> {\n"
                                  "  %0 = stablehlo.floor %a : tensor<2xi32>\n  return %0 : tensor<2xi32>\n}\n";
    const CommandResult result = shell("import p.mlir");
    CHECK(result.code == 2);
    CHECK(result.err.find("--> p.mlir:2:8") != std::string::npos);
    CHECK(result.err.find("note: it becomes result: {floor: arg0}") != std::string::npos);
}

TEST_CASE("ops without the results or the values that they need are refused") {
    const auto in_front = [](const std::string& op) {
        return problem_of(op + "\n  %0 = stablehlo.tanh %a : tensor<4x2xf32>", floats);
    };
    for (const char* op : {"add", "tanh", "constant", "iota", "reduce", "gather", "slice", "and", "convert"}) {
        CAPTURE(op);
        CHECK(in_front(fmt::format("  \"stablehlo.{}\"() : () -> ()", op)).find("2:3 error[E0801]: stablehlo.") == 0);
    }
    CHECK(problem_of("  %c = stablehlo.constant dense<1.0> : tensor<f32>\n"
                     "  %0 = stablehlo.while(%i = %a) : tensor<4x2xf32> cond { stablehlo.return %c : tensor<f32> } "
                     "do { stablehlo.return %i : tensor<4x2xf32> }",
                     floats) == "3:8 error[E0801]: stablehlo.while has a condition of one i1");
    CHECK(problem_of("  %0 = stablehlo.slice %a [x:y, 0:2] : (tensor<4x2xf32>) -> tensor<4x2xf32>", floats) ==
          "2:8 error[E0801]: stablehlo.slice has ranges of numbers");
    CHECK(problem_of("  %0 = stablehlo.dynamic_slice %a, %s, %s, sizes = [1, 2] : (tensor<4x2xf32>, tensor<i32>, "
                     "tensor<i32>) -> tensor<2x2xf32>",
                     "tensor<2x2xf32>") == "2:8 error[E0801]: stablehlo.dynamic_slice has a result of its sizes");
}

TEST_CASE("every command says the same of a program that is wrong, and where") {
    Shell shell;
    shell.files.files["l.yaml"] = "mesh: {a: 2}\n";
    shell.files.files["p.mlir"] = "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
                                  "  %0 = stablehlo.tanhh %a : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n";
    for (const char* line :
         {"plan p.mlir l.yaml", "run p.mlir l.yaml", "diff p.mlir l.yaml l.yaml", "show p.mlir l.yaml",
          "explain p.mlir l.yaml", "export p.mlir l.yaml --to specs", "import p.mlir"}) {
        CAPTURE(line);
        const CommandResult result = shell(line);
        CHECK(result.code == 2);
        CHECK(result.err.find("error[E0803]: op 'stablehlo.tanhh' is not known\n --> p.mlir:2:8\n") == 0);
    }
    CHECK(shell("check p.mlir l.yaml").out.find("p.mlir:2:8") != std::string::npos);
}

TEST_CASE("what is left out of a program is said by the commands that say such things") {
    Shell shell;
    shell.files.files["l.yaml"] = "mesh: {a: 2}\n";
    shell.files.files["p.mlir"] = "func.func @main(%a: tensor<4xf32> {mhlo.sharding = \"{maximal device=0}\"}) -> "
                                  "tensor<4xf32> {\n  %0 = stablehlo.tanh %a : tensor<4xf32>\n"
                                  "  return %0 : tensor<4xf32>\n}\n";
    for (const char* line : {"run p.mlir l.yaml", "export p.mlir l.yaml --to specs", "import p.mlir"}) {
        CAPTURE(line);
        const CommandResult result = shell(line);
        CHECK(result.code == 0);
        CHECK(result.err.find("warning[W0801]: a sharding over devices is left out: it is no split over axes of one "
                              "mesh\n --> p.mlir:1:17\n") == 0);
    }
    for (const char* line : {"plan p.mlir l.yaml", "check p.mlir l.yaml"}) {
        CAPTURE(line);
        const CommandResult result = shell(line);
        CHECK((result.out + result.err).find("W0801") != std::string::npos);
    }
    // The model of a program is in no file: what is wrong with it is said at its function.
    const std::string wrong = shell("run p.mlir l.yaml --mode train").err;
    CHECK(wrong.find("--> p.mlir:1:1\n") != std::string::npos);
    CHECK(wrong.find(" = note: in the model that `shardc import p.mlir` makes of it: model: program\n") !=
          std::string::npos);
    CHECK(wrong.find("p.mlir.yaml") == std::string::npos);
}

TEST_CASE("a program in the place of a layout is called one") {
    Shell shell;
    shell.files.files["l.yaml"] = "mesh: {a: 2}\n";
    shell.files.files["p.mlir"] = "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
                                  "  %0 = stablehlo.tanh %a : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n";
    CHECK(shell("plan p.mlir p.mlir").err ==
          "error[E0709]: 'p.mlir' is a program, and stands in the place of a layout\n"
          "  = help: `shardc import FILE.mlir --layout LAYOUT` writes its layout\n\n");
    CHECK(shell("plan l.yaml p.mlir").err == "error[E0709]: these look swapped: 'l.yaml' is a layout, 'p.mlir' is a "
                                             "program\n  = help: the model comes first: MODEL LAYOUT\n\n");
}

TEST_CASE("a file is a program by its name, whatever it begins with") {
    Shell shell;
    shell.files.files["l.yaml"] = "mesh: {a: 2}\n";
    shell.files.files["p.mlir"] = "  %0 = stablehlo.constant dense<1.0> : tensor<f32>\n";
    CHECK(shell("plan p.mlir l.yaml").err.find("error[E0801]: a function is expected here, and the file ends\n") == 0);
}

TEST_CASE("a name that YAML would not take as one becomes a name, and no name is too long for it") {
    Shell shell;
    for (const std::string& name : {std::string("Null"), std::string("NULL"), std::string(3000, 'x')}) {
        CAPTURE(name);
        shell.files.files["p.mlir"] = fmt::format(
            "func.func @main(%a: tensor<4xf32> loc(\"{0}\")) -> (tensor<4xf32> {{jax.result_info = \"{0}\"}}) "
            "{{\n  %0 = stablehlo.tanh %a : tensor<4xf32> loc(\"{0}/x\")\n"
            "  %1 = stablehlo.tanh %0 : tensor<4xf32> loc(\"{0}/x\")\n  return %1 : tensor<4xf32>\n}}\n",
            name);
        CHECK(shell("import p.mlir").code == 0);
    }
}
