#include "exporter/stablehlo/hlo_ops.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace shard;

TEST_CASE("numbers of StableHLO have a point, and what is no number its bits") {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    CHECK(hlo_number(1, DType::f32) == "1.0");
    CHECK(hlo_number(-0.0, DType::f32) == "-0.0");
    CHECK(hlo_number(1e-5, DType::f32) == "1.0e-05");
    CHECK(hlo_number(1e30, DType::f64) == "1.0e+30");
    CHECK(hlo_number(0x1p63, DType::u64) == "9223372036854775808");
    CHECK(hlo_number(-0x1p63, DType::i64) == "-9223372036854775808");
    CHECK(hlo_number(infinity, DType::f32) == "0x7F800000");
    CHECK(hlo_number(-infinity, DType::bf16) == "0xFF80");
    CHECK(hlo_number(-infinity, DType::f64) == "0xFFF0000000000000");
    CHECK(hlo_number(std::nan(""), DType::f32) == "0x7FC00000");
    CHECK(hlo_number(4294967295.0, DType::u32) == "4294967295");
    CHECK(hlo_number(1, DType::boolean) == "true");
}

TEST_CASE("types of StableHLO are local shapes and their elements") {
    CHECK(hlo_type(DType::f32, {4, 8}) == "tensor<4x8xf32>");
    CHECK(hlo_type(DType::u32) == "tensor<ui32>");
    CHECK(hlo_type(DType::boolean, {2}) == "tensor<2xi1>");
}

TEST_CASE("only what was made last gets a name, and no number is left out") {
    HloFunctions functions;
    HloOps ops(functions, 0);
    const HloValue zero = ops.constant(0, DType::f32), one = ops.constant(1, DType::f32);
    CHECK(ops.named(zero, "zero").name == "%0");
    CHECK(ops.named(one, "one").name == "%one");
    ops.pointwise("stablehlo.add", {zero, HloValue{"%one", DType::f32, {}}});
    CHECK(ops.text() == R"(%0 = stablehlo.constant dense<0.0> : tensor<f32>
%one = stablehlo.constant dense<1.0> : tensor<f32>
%1 = stablehlo.add %0, %one : tensor<f32>
)");
}

TEST_CASE("a choice of truths has the types of all its operands") {
    HloFunctions functions;
    HloOps ops(functions, 0);
    const HloValue truth = ops.constant(1, DType::boolean);
    ops.pointwise("stablehlo.select", {truth, truth, truth});
    ops.pointwise("stablehlo.and", {truth, truth});
    CHECK(ops.text() == R"(%0 = stablehlo.constant dense<true> : tensor<i1>
%1 = stablehlo.select %0, %0, %0 : (tensor<i1>, tensor<i1>, tensor<i1>) -> tensor<i1>
%2 = stablehlo.and %0, %0 : tensor<i1>
)");
}
