// Ops that go element by element, where the model's own op differs from the program's.
#include "importer/program/import_program.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

std::string graph_of(const std::string& arguments, const std::string& body, const std::string& type,
                     const std::string& functions = {}) {
    Sources sources;
    const int file = sources.add("p.mlir", fmt::format("func.func @main({}) -> {} {{\n{}  return %r : {}\n}}\n{}",
                                                       arguments, type, body, type, functions));
    Diagnostics diagnostics;
    const std::optional<ImportedProgram> program = import_program(sources, file, {}, diagnostics);
    if (!program) return diagnostics.all().at(0).message;
    const size_t begin = program->model.find("graph:\n");
    return program->model.substr(begin, program->model.find("outputs:") - begin);
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

const std::string f32 = "tensor<4xf32>", x = "%x: tensor<4xf32> loc(\"x\")";

std::string clamped(const std::string& low, const std::string& high) {
    return graph_of(x,
                    fmt::format("  %l = stablehlo.constant dense<{}> : tensor<f32>\n"
                                "  %h = stablehlo.constant dense<{}> : tensor<f32>\n"
                                "  %r = stablehlo.clamp %l, %x, %h : (tensor<f32>, {}, tensor<f32>) -> {}\n",
                                low, high, f32, f32),
                    f32);
}

std::string called(const std::string& name, const std::string& floor) {
    return graph_of(x, fmt::format("  %r = call @{}(%x) : ({}) -> {}\n", name, f32, f32), f32,
                    fmt::format("func.func private @{0}(%a: {1}) -> {1} {{\n"
                                "  %z = stablehlo.constant dense<{2}> : {1}\n"
                                "  %m = stablehlo.maximum %a, %z : {1}\n  return %m : {1}\n}}\n",
                                name, f32, floor));
}

} // namespace

TEST_CASE("clamp between numbers is the model's, whose gradient at them is 0 as in JAX, where max and min have half") {
    CHECK(clamped("0.0", "1.0") == "graph:\n  - result: {clamp: x, min: 0, max: 1}\n");
    for (const auto& [low, high] : {std::pair("1.0", "0.0"), std::pair("0xFF800000", "1.0")}) {
        CAPTURE(low);
        CHECK(has(clamped(low, high), "{min: ["));
    }
}

TEST_CASE("what adds zeros is left out, as XLA leaves it out, and so are squares of zeros") {
    const std::string zeros = "  %z = stablehlo.constant dense<0.0> : tensor<4xf32>\n"
                              "  %s = chlo.square %z : tensor<4xf32> -> tensor<4xf32>\n"
                              "  %t = stablehlo.tanh %x : tensor<4xf32>\n";
    const std::string only_tanh = "graph:\n  - result: {tanh: x}\n";
    CHECK(graph_of(x, zeros + "  %r = stablehlo.add %t, %s : tensor<4xf32>\n", f32) == only_tanh);
    CHECK(graph_of(x, zeros + "  %r = stablehlo.add %z, %t : tensor<4xf32>\n", f32) == only_tanh);
}

TEST_CASE("jax.nn.relu is relu by its name, and max by any other") {
    for (const char* name : {"relu", "relu_0", "relu_12"}) CHECK(has(called(name, "0.0"), "{relu: x}"));
    for (const char* name : {"relu6", "relu_", "relu_a", "prelu", "f"})
        CHECK(called(name, "0.0") == "graph:\n  - result: {max: [x, 0]}\n");
    CHECK(has(called("relu", "1.0"), "{max: [x, 1]}"));
}

TEST_CASE("an arithmetic shift brings in the highest bit, also of numbers without a sign") {
    const std::string u32 = "tensor<4xui32>";
    CHECK(graph_of("%x: tensor<4xui32> loc(\"x\")",
                   fmt::format("  %n = stablehlo.constant dense<4> : {0}\n"
                               "  %r = stablehlo.shift_right_arithmetic %x, %n : {0}\n",
                               u32),
                   u32) == "graph:\n  - cast: {cast: x, dtype: i32}\n  - shift_right: {shift_right: [cast, 4]}\n"
                           "  - result: {cast: shift_right, dtype: u32}\n");
}

TEST_CASE("the largest of a hardware's top k are taken, in another form it is refused") {
    const auto taken = [](const std::string& comparator, int k) {
        return graph_of(
            x,
            fmt::format("  %i = stablehlo.iota dim = 0 : tensor<4xi32>\n"
                        "  %l = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"
                        "  %n = stablehlo.constant dense<-1> : tensor<i32>\n"
                        "  %t:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %l, %n) {{called_computations = "
                        "[@{}_f32_comparator], mhlo.backend_config = {{reduction_dim = 0 : i64, top_k = {} : "
                        "i64}}}} : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, "
                        "tensor<2xi32>)\n  %r = stablehlo.add %t#0, %t#0 : tensor<2xf32>\n",
                        comparator, k),
            "tensor<2xf32>");
    };
    CHECK(has(taken("top_k_gt", 2), "{top_k: x, k: 2}"));
    for (const std::string& other : {taken("top_k_lt", 2), taken("top_k_gt", 3)})
        CHECK(has(other, "lax.approx_max_k of another form"));
}

TEST_CASE("negative numbers without a sign wrap") {
    const std::string u32 = "tensor<4xui32>";
    CHECK(has(graph_of("%x: tensor<4xui32> loc(\"x\")", fmt::format("  %r = stablehlo.negate %x : {}\n", u32), u32),
              "{sub: [0, x]}"));
}

TEST_CASE("whole numbers beyond 2^53, which numbers of a model do not hold, are put together of two") {
    const auto added = [](const std::string& number, const std::string& type) {
        return graph_of(fmt::format("%x: {} loc(\"x\")", type),
                        fmt::format("  %n = stablehlo.constant dense<{0}> : {1}\n  %r = stablehlo.add %x, %n : {1}\n",
                                    number, type),
                        type);
    };
    CHECK(has(added("9007199254740992", "tensor<2xi64>"), "{add: [x, 9007199254740992]}"));
    const std::string beyond = added("9007199254740993", "tensor<2xi64>"),
                      most = added("18446744073709551615", "tensor<2xui64>"),
                      least = added("-9223372036854775807", "tensor<2xi64>");
    CHECK(has(beyond, "{constant: 2097152, shape: [2], dtype: i64}"));
    CHECK(has(beyond, "{shift_left: [constant, 32]}"));
    CHECK(has(beyond, "{bit_or: [shift_left, 1]}"));
    CHECK(has(most, "{constant: 4294967295, shape: [2], dtype: u64}"));
    CHECK(has(most, "{bit_or: [shift_left, 4294967295]}"));
    CHECK(has(least, "{constant: -2147483648, shape: [2], dtype: i64}"));
    CHECK(has(least, "{bit_or: [shift_left, 1]}"));
}

TEST_CASE("a conversion of the least number of i64 to a narrower type is left to the plan") {
    const std::string graph = graph_of("%x: tensor<2xi32> loc(\"x\")",
                                       "  %n = stablehlo.constant dense<-9223372036854775808> : tensor<2xi64>\n"
                                       "  %c = stablehlo.convert %n : (tensor<2xi64>) -> tensor<2xi32>\n"
                                       "  %r = stablehlo.add %x, %c : tensor<2xi32>\n",
                                       "tensor<2xi32>");
    CHECK(has(graph, "dtype: i32}"));
    CHECK_FALSE(has(graph, "9223372036854775808"));
}

} // namespace shard
