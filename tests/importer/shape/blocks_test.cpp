// Layers that are the same become a module that is repeated, and only those.
#include "plans/disk/file.h"
#include "tests/support/imported_model.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "test_paths.h"

using namespace shard;

namespace {

// h = tanh(h @ w + m), with m = -mask made in the first layer alone; `more` is what follows the last.
std::string layers(int count, const std::string& returns, const std::string& more = {}) {
    std::string arguments, body;
    for (int i = 0; i < count; ++i) {
        arguments += fmt::format(", %w{0}: tensor<8x8xf32> loc(\"params['h_{0}']['w']\")", i);
        const std::string before = i == 0 ? "%x" : fmt::format("%h{}", i - 1);
        body += fmt::format("  %d{0} = stablehlo.dot_general {1}, %w{0}, contracting_dims = [1] x [0] : "
                            "(tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>\n",
                            i, before);
        if (i == 0) body += "  %m = stablehlo.negate %mask : tensor<4x8xf32>\n";
        body += fmt::format("  %s{0} = stablehlo.add %d{0}, %m : tensor<4x8xf32>\n"
                            "  %e{0} = stablehlo.exponential %s{0} : tensor<4x8xf32>\n"
                            "  %h{0} = stablehlo.tanh %e{0} : tensor<4x8xf32>\n",
                            i);
    }
    return fmt::format("func.func @main(%x: tensor<4x8xf32> loc(\"x\"), %mask: tensor<4x8xf32> loc(\"mask\"){}) -> "
                       "tensor<4x8xf32> {{\n{}{}  return %{} : tensor<4x8xf32>\n}}\n",
                       arguments, body, more, returns);
}

} // namespace

TEST_CASE(
    "layers become a module, what the first makes for all of them goes before it, parameters keep their numbers") {
    const ImportedProgram program = imported_program(layers(4, "h3"));
    CHECK(program.model == "model: program\n"
                           "axes: {batch: 4, embed: 8, features: 8}\n"
                           "sizes: fixed\n"
                           "inputs:\n"
                           "  x: {axes: [batch, features]}\n"
                           "  mask: {axes: [batch, embed]}\n"
                           "modules:\n"
                           "  block:\n"
                           "    inputs: [x, neg]\n"
                           "    params:\n"
                           "      w: {axes: [features, embed]}\n"
                           "    graph:\n"
                           "      - dot: {dot: [x, w]}\n"
                           "      - add: {add: [dot, neg]}\n"
                           "      - exp: {exp: add}\n"
                           "      - tanh: {tanh: exp}\n"
                           "    outputs: [tanh]\n"
                           "graph:\n"
                           "  - neg: {neg: mask}\n"
                           "  - result: {repeat: block, times: 4, in: [x, neg], name: h}\n"
                           "outputs: [result]\n");
    REQUIRE(program.names.size() == 6);
    CHECK(program.names[0] == std::pair<std::string, std::string>("x", "x"));
    CHECK(program.names[4] == std::pair<std::string, std::string>("params.h_2.w", "h.2.w"));
}

// x = sin(x * n) of the n-th repetition, in between what is alike.
std::string numbered(const std::vector<std::string>& numbers, bool with_params) {
    std::string arguments, body;
    for (size_t i = 0; i < numbers.size(); ++i) {
        const std::string before = i == 0 ? "%x" : fmt::format("%h{}", i - 1);
        if (with_params) arguments += fmt::format(", %w{0}: tensor<4x8xf32> loc(\"params['h_{0}']['w']\")", i);
        body += fmt::format("  %n{0} = stablehlo.constant dense<{1}> : tensor<4x8xf32>\n"
                            "  %a{0} = stablehlo.multiply {2}, %n{0} : tensor<4x8xf32>\n"
                            "  %b{0} = stablehlo.sine %a{0} : tensor<4x8xf32>\n"
                            "  %c{0} = stablehlo.exponential %b{0} : tensor<4x8xf32>\n"
                            "  %d{0} = stablehlo.add %c{0}, {3} : tensor<4x8xf32>\n"
                            "  %h{0} = stablehlo.tanh %d{0} : tensor<4x8xf32>\n",
                            i, numbers[i], before, with_params ? fmt::format("%w{}", i) : before);
    }
    return fmt::format("func.func @main(%x: tensor<4x8xf32> loc(\"x\"){}) -> tensor<4x8xf32> {{\n{}  return %h{} : "
                       "tensor<4x8xf32>\n}}\n",
                       arguments, body, numbers.size() - 1);
}

TEST_CASE("repetitions that differ by numbers take them from a list: written out with parameters, else as a loop") {
    const std::string layers = imported_program(numbered({"0.5", "0.25", "2.0"}, true)).model;
    CHECK_MESSAGE(layers.find("  - h_numbers: {constant: [0.5, 0.25, 2], shape: [3]}\n"
                              "  - result: {repeat: block, in: x, over: h_numbers, name: h}\n") != std::string::npos,
                  layers);
    CHECK(layers.find("{mul: [x, number]}") != std::string::npos);
    const std::string loop = imported_program(numbered({"0.5", "0.25", "2.0"}, false)).model;
    CHECK_MESSAGE(loop.find("{repeat: block, in: x, over: block_numbers, scan: true}") != std::string::npos, loop);
    const std::string same = imported_program(numbered({"0.5", "0.5", "0.5"}, false)).model;
    CHECK_MESSAGE(same.find("{repeat: block, times: 3, in: x}") != std::string::npos, same);
}

TEST_CASE("a number that two lists hold in one repetition makes no block: it would have two names") {
    std::string constants;
    for (int n = 2; n <= 4; ++n)
        constants += fmt::format("  %c{0} = stablehlo.constant dense<{0}.0> : tensor<f32>\n", n);
    const auto repetitions = [&](int first, int second, int third) { // what is added; multiplied is by 2, 3, 4
        std::string text;
        const int added[] = {first, second, third};
        for (int r = 0; r < 3; ++r)
            text += fmt::format("  %a{0} = stablehlo.multiply {1}, %c{2} : tensor<f32>\n"
                                "  %b{0} = stablehlo.sine %a{0} : tensor<f32>\n"
                                "  %d{0} = stablehlo.add %b{0}, %c{3} : tensor<f32>\n"
                                "  %e{0} = stablehlo.cosine %d{0} : tensor<f32>\n"
                                "  %f{0} = stablehlo.exponential %e{0} : tensor<f32>\n"
                                "  %h{0} = stablehlo.tanh %f{0} : tensor<f32>\n",
                                r, r == 0 ? "%x" : fmt::format("%h{}", r - 1), r + 2, added[r]);
        return imported_program(
                   fmt::format("func.func @main(%x: tensor<f32> loc(\"x\")) -> tensor<f32> {{\n{}{}  return %h2 : "
                               "tensor<f32>\n}}\n",
                               constants, text))
            .model;
    };
    CHECK(repetitions(4, 3, 2).find("repeat") == std::string::npos);
    const std::string apart = repetitions(4, 2, 3);
    CHECK_MESSAGE(apart.find("{repeat: block, in: x, over: [block_numbers, block_numbers_2], scan: true}") !=
                      std::string::npos,
                  apart);
}

TEST_CASE("what something else reads too is no block") {
    const auto is_repeated = [](const std::string& text) {
        return imported_program(text).model.find("repeat:") != std::string::npos;
    };
    CHECK(is_repeated(layers(5, "z", "  %z = stablehlo.add %h4, %x : tensor<4x8xf32>\n")));
    // A value in the middle of a layer; layers after it are a block still.
    const std::string later =
        imported_program(layers(5, "z", "  %z = stablehlo.add %h4, %e0 : tensor<4x8xf32>\n")).model;
    CHECK(later.find("{repeat: block, times: 4,") != std::string::npos);
    CHECK(!is_repeated(layers(5, "z", "  %z = stablehlo.add %h4, %e2 : tensor<4x8xf32>\n")));
    // A parameter of one layer.
    CHECK(!is_repeated(layers(3, "z",
                              "  %z = stablehlo.dot_general %h2, %w1, contracting_dims = [1] x [0] : "
                              "(tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>\n")));
    CHECK(!is_repeated(layers(1, "h0")));
}

TEST_CASE("a loop over layers that are stacked is a scan") {
    const std::string model =
        imported_program(
            R"(func.func @main(%w: tensor<3x8x8xf32> loc("params['h']['w']"), %x: tensor<4x8xf32> loc("x")) -> tensor<4x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %h = %x) : tensor<i32>, tensor<4x8xf32>
  cond {
    %c = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %s = stablehlo.dynamic_slice %w, %i, %zero, %zero, sizes = [1, 8, 8] : (tensor<3x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
    %p = stablehlo.reshape %s : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
    %d = stablehlo.dot_general %h, %p, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %t = stablehlo.tanh %d : tensor<4x8xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %t : tensor<i32>, tensor<4x8xf32>
  }
  return %r#1 : tensor<4x8xf32>
})")
            .model;
    CHECK_MESSAGE(model.find("      w: {axes: [embed, 8]}\n    graph:\n      - dot: {dot: [x, w]}\n") !=
                      std::string::npos,
                  model);
    CHECK_MESSAGE(model.find("{repeat: block, times: 3, in: x, name: h, scan: true}") != std::string::npos, model);
}

// `read`, `write`: the entry of x that a trip takes, and that of the result which it makes.
std::string loop_over(const std::string& read, const std::string& write) {
    return imported_program(fmt::format(
                                R"(func.func @main(%x: tensor<4x8xf32> loc("x")) -> tensor<4x8xf32> {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %empty = stablehlo.constant dense<0.0> : tensor<4x8xf32>
  %r:2 = stablehlo.while(%i = %zero, %y = %empty) : tensor<i32>, tensor<4x8xf32> cond {{
    %c = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }} do {{
    %down = stablehlo.subtract %three, %i : tensor<i32>
    %s = stablehlo.dynamic_slice %x, {}, %zero, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %e = stablehlo.reshape %s : (tensor<1x8xf32>) -> tensor<8xf32>
    %t = stablehlo.tanh %e : tensor<8xf32>
    %u = stablehlo.multiply %t, %e : tensor<8xf32>
    %v = stablehlo.sine %u : tensor<8xf32>
    %w = stablehlo.reshape %v : (tensor<8xf32>) -> tensor<1x8xf32>
    %z = stablehlo.dynamic_update_slice %y, %w, {}, %zero : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %z : tensor<i32>, tensor<4x8xf32>
  }}
  return %r#1 : tensor<4x8xf32>
}})",
                                read, write))
        .model;
}

TEST_CASE("a loop over a value takes an entry in each trip and stacks what it makes, either way") {
    const std::string up = loop_over("%i", "%i"), down = loop_over("%down", "%down");
    CHECK_MESSAGE(up.find("{repeat: block, over: x, stack: sin, scan: true}") != std::string::npos, up);
    CHECK_MESSAGE(down.find("{repeat: block, over: x, stack: sin, scan: true, reverse: true}") != std::string::npos,
                  down);
}

TEST_CASE("a backward pass is a loop, where what a trip does stands in it several times too, wherever it begins") {
    for (const auto& [name, loops] : {std::pair("scanned_tanh", 2), {"lstm_gradients", 2}}) {
        std::string problem;
        const std::string path = fmt::format("{}/tests/importer/program/programs/{}.mlir", SHARDC_SOURCE_DIR, name);
        Sources sources;
        const int file = sources.add("program.mlir", read_file(path, problem).value_or(""));
        Diagnostics diagnostics;
        const std::optional<ImportedProgram> program = import_program(sources, file, {}, diagnostics);
        REQUIRE(program.has_value());
        const std::string& model = program->model;
        int found = 0;
        for (size_t at = model.find("scan: true"); at != std::string::npos; at = model.find("scan: true", at + 1))
            ++found;
        CHECK_MESSAGE(found == loops, model);
    }
}

TEST_CASE("a loop that reads one way and writes the other writes where a list of numbers says") {
    const std::string model = loop_over("%i", "%down");
    CHECK_MESSAGE(model.find("  - block_numbers: {constant: [3, 2, 1, 0], shape: [4], dtype: i32}\n"
                             "  - result: {repeat: block, in: constant, over: [x, block_numbers], scan: true}\n") !=
                      std::string::npos,
                  model);
    CHECK_MESSAGE(model.find("{dynamic_update_slice: [x, reshape, number], dim: [0]}") != std::string::npos, model);
}

// h, a state that begins as `start` of type `type`, and the sum of what it was.
std::string recurrence(const std::string& start, const std::string& condition) {
    return imported_program(
               fmt::format(
                   R"(func.func @main(%x: tensor<4x8xf32> loc("x"), %h0: tensor<8xf32> loc("h0")) -> tensor<8xf32> {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %empty = stablehlo.constant dense<0.0> : tensor<8xf32>
  %nothing = stablehlo.constant dense<0.0> : tensor<f32>
  %most = stablehlo.constant dense<3.5> : tensor<f32>
  %step = stablehlo.constant dense<1.0> : tensor<f32>
  %r:3 = stablehlo.while(%i = %zero, %h = %{}, %m = %nothing) : tensor<i32>, tensor<8xf32>, tensor<f32> cond {{
    %c = stablehlo.compare LT, {}
    stablehlo.return %c : tensor<i1>
  }} do {{
    %s = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %e = stablehlo.reshape %s : (tensor<1x8xf32>) -> tensor<8xf32>
    %t = stablehlo.tanh %h : tensor<8xf32>
    %u = stablehlo.multiply %t, %h : tensor<8xf32>
    %v = stablehlo.add %u, %e : tensor<8xf32>
    %w = stablehlo.sine %v : tensor<8xf32>
    %k = stablehlo.add %m, %step : tensor<f32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %w, %k : tensor<i32>, tensor<8xf32>, tensor<f32>
  }}
  return %r#1 : tensor<8xf32>
}})",
                   start, condition))
        .model;
}

TEST_CASE("a state that begins as zeros is carried as one that is given, by a loop that no state of numbers ends") {
    const std::string by_count = "%i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>";
    const std::string zeros = recurrence("empty", by_count), given = recurrence("h0", by_count);
    CHECK_MESSAGE(zeros.find("  - constant: {constant: 0, shape: [8]}\n"
                             "  - result: {repeat: block, in: constant, over: x, scan: true}\n") != std::string::npos,
                  zeros);
    CHECK_MESSAGE(given.find("{repeat: block, in: h0, over: x, scan: true}") != std::string::npos, given);
    // What the condition reads has to stay known.
    const std::string by_sum = recurrence("empty", "%m, %most : (tensor<f32>, tensor<f32>) -> tensor<i1>");
    CHECK_MESSAGE(by_sum.find("in: constant, over: x, scan: true}") != std::string::npos, by_sum);
}
