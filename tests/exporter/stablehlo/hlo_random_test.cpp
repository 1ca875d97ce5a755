// Random values are calls of the cipher over the places of a device's part.
#include "tests/exporter/stablehlo/exported_body.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

Generate drawn(Random random) { return {std::move(random), {8}, {block_start(8, std::vector<AxisRef>{{0, 1, 2}})}}; }

Distribution of(DistributionKind kind, double low = 0, double high = 0) {
    Distribution distribution;
    distribution.kind = kind;
    distribution.low = low;
    distribution.high = high;
    return distribution;
}

} // namespace

TEST_CASE("bits are drawn by the place in the whole array, under a key that steps are folded into") {
    Random random{of(DistributionKind::bits), {7, 9}};
    CHECK(body_of(drawn(random), {}, {DType::u32, {4}}) ==
          R"(%1 = stablehlo.partition_id : tensor<ui32>
%2 = stablehlo.convert %1 : (tensor<ui32>) -> tensor<i64>
%3 = stablehlo.constant dense<2> : tensor<i64>
%4 = stablehlo.divide %2, %3 : tensor<i64>
%5 = stablehlo.constant dense<2> : tensor<i64>
%at.a = stablehlo.remainder %4, %5 : tensor<i64>
%0 = stablehlo.iota dim = 0 : tensor<4xui32>
%6 = stablehlo.constant dense<4> : tensor<i64>
%7 = stablehlo.multiply %at.a, %6 : tensor<i64>
%8 = stablehlo.convert %7 : (tensor<i64>) -> tensor<ui32>
%9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<ui32>) -> tensor<4xui32>
%10 = stablehlo.add %0, %9 : tensor<4xui32>
%11 = stablehlo.constant dense<7> : tensor<ui32>
%12 = stablehlo.constant dense<9> : tensor<ui32>
%13 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<ui32>) -> tensor<4xui32>
%14 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<ui32>) -> tensor<4xui32>
%15 = stablehlo.constant dense<0> : tensor<4xui32>
%16:2 = func.call @threefry_4(%13, %14, %15, %10) : (tensor<4xui32>, tensor<4xui32>, tensor<4xui32>,
    tensor<4xui32>) -> (tensor<4xui32>, tensor<4xui32>)
%out = stablehlo.xor %16#0, %16#1 : tensor<4xui32>
)");
    random.folds = {constant(3)};
    random.layout = BitLayout::legacy;
    CHECK(body_of(drawn(random), {}, {DType::u32, {4}}) ==
          R"(%1 = stablehlo.partition_id : tensor<ui32>
%2 = stablehlo.convert %1 : (tensor<ui32>) -> tensor<i64>
%3 = stablehlo.constant dense<2> : tensor<i64>
%4 = stablehlo.divide %2, %3 : tensor<i64>
%5 = stablehlo.constant dense<2> : tensor<i64>
%at.a = stablehlo.remainder %4, %5 : tensor<i64>
%0 = stablehlo.iota dim = 0 : tensor<4xui32>
%6 = stablehlo.constant dense<4> : tensor<i64>
%7 = stablehlo.multiply %at.a, %6 : tensor<i64>
%8 = stablehlo.convert %7 : (tensor<i64>) -> tensor<ui32>
%9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<ui32>) -> tensor<4xui32>
%10 = stablehlo.add %0, %9 : tensor<4xui32>
%11 = stablehlo.constant dense<7> : tensor<ui32>
%12 = stablehlo.constant dense<9> : tensor<ui32>
%13 = stablehlo.constant dense<3> : tensor<i64>
%14 = stablehlo.convert %13 : (tensor<i64>) -> tensor<ui32>
%15 = stablehlo.constant dense<0> : tensor<ui32>
%16:2 = func.call @threefry(%11, %12, %15, %14) : (tensor<ui32>, tensor<ui32>, tensor<ui32>,
    tensor<ui32>) -> (tensor<ui32>, tensor<ui32>)
%17 = stablehlo.broadcast_in_dim %16#0, dims = [] : (tensor<ui32>) -> tensor<4xui32>
%18 = stablehlo.broadcast_in_dim %16#1, dims = [] : (tensor<ui32>) -> tensor<4xui32>
%19 = stablehlo.constant dense<0> : tensor<4xui32>
%20 = stablehlo.constant dense<4> : tensor<4xui32>
%21 = stablehlo.compare LT, %10, %20 : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
%22 = stablehlo.subtract %10, %20 : tensor<4xui32>
%23 = stablehlo.select %21, %10, %22 : (tensor<4xi1>, tensor<4xui32>, tensor<4xui32>) ->
    tensor<4xui32>
%24 = stablehlo.add %23, %20 : tensor<4xui32>
%25 = stablehlo.constant dense<8> : tensor<4xui32>
%26 = stablehlo.compare LT, %24, %25 : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
%27 = stablehlo.select %26, %24, %19 : (tensor<4xi1>, tensor<4xui32>, tensor<4xui32>) ->
    tensor<4xui32>
%28:2 = func.call @threefry_4(%17, %18, %23, %27) : (tensor<4xui32>, tensor<4xui32>, tensor<4xui32>,
    tensor<4xui32>) -> (tensor<4xui32>, tensor<4xui32>)
%out = stablehlo.select %21, %28#0, %28#1 : (tensor<4xi1>, tensor<4xui32>, tensor<4xui32>) ->
    tensor<4xui32>
)");
}

TEST_CASE("stacks have a key for each entry, and blocks one that is folded") {
    Random random{of(DistributionKind::bits), {7, 9}};
    random.layers = {{1, 2}, {3, 4}};
    const Generate stack{random, {2, 3}, {constant(0), constant(0)}};
    CHECK(body_of(stack, {}, {DType::u32, {2, 3}}) ==
          R"(%0 = stablehlo.iota dim = 0 : tensor<2x3xui32>
%1 = stablehlo.iota dim = 1 : tensor<2x3xui32>
%2 = stablehlo.constant dense<7> : tensor<ui32>
%3 = stablehlo.constant dense<9> : tensor<ui32>
%4 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<ui32>) -> tensor<2x3xui32>
%5 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<ui32>) -> tensor<2x3xui32>
%6 = stablehlo.constant dense<[1, 3]> : tensor<2xui32>
%7 = "stablehlo.gather"(%6, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [],
    collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes =
    array<i64: 1>}> : (tensor<2xui32>, tensor<2x3xui32>) -> tensor<2x3xui32>
%8 = stablehlo.constant dense<[2, 4]> : tensor<2xui32>
%9 = "stablehlo.gather"(%8, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [],
    collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes =
    array<i64: 1>}> : (tensor<2xui32>, tensor<2x3xui32>) -> tensor<2x3xui32>
%10 = stablehlo.constant dense<0> : tensor<2x3xui32>
%11:2 = func.call @threefry_2x3(%7, %9, %10, %1) : (tensor<2x3xui32>, tensor<2x3xui32>,
    tensor<2x3xui32>, tensor<2x3xui32>) -> (tensor<2x3xui32>, tensor<2x3xui32>)
%out = stablehlo.xor %11#0, %11#1 : tensor<2x3xui32>
)");
    random.layers.clear();
    random.blocks = {2};
    CHECK(body_of(drawn(random), {}, {DType::u32, {4}}) ==
          R"(%1 = stablehlo.partition_id : tensor<ui32>
%2 = stablehlo.convert %1 : (tensor<ui32>) -> tensor<i64>
%3 = stablehlo.constant dense<2> : tensor<i64>
%4 = stablehlo.divide %2, %3 : tensor<i64>
%5 = stablehlo.constant dense<2> : tensor<i64>
%at.a = stablehlo.remainder %4, %5 : tensor<i64>
%0 = stablehlo.iota dim = 0 : tensor<4xui32>
%6 = stablehlo.constant dense<4> : tensor<i64>
%7 = stablehlo.multiply %at.a, %6 : tensor<i64>
%8 = stablehlo.convert %7 : (tensor<i64>) -> tensor<ui32>
%9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<ui32>) -> tensor<4xui32>
%10 = stablehlo.add %0, %9 : tensor<4xui32>
%11 = stablehlo.constant dense<7> : tensor<ui32>
%12 = stablehlo.constant dense<9> : tensor<ui32>
%13 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<ui32>) -> tensor<4xui32>
%14 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<ui32>) -> tensor<4xui32>
%15 = stablehlo.constant dense<4> : tensor<4xui32>
%16 = stablehlo.divide %10, %15 : tensor<4xui32>
%17 = stablehlo.remainder %10, %15 : tensor<4xui32>
%18 = stablehlo.constant dense<0> : tensor<4xui32>
%19:2 = func.call @threefry_4(%13, %14, %18, %16) : (tensor<4xui32>, tensor<4xui32>, tensor<4xui32>,
    tensor<4xui32>) -> (tensor<4xui32>, tensor<4xui32>)
%20 = stablehlo.constant dense<0> : tensor<4xui32>
%21:2 = func.call @threefry_4(%19#0, %19#1, %20, %17) : (tensor<4xui32>, tensor<4xui32>,
    tensor<4xui32>, tensor<4xui32>) -> (tensor<4xui32>, tensor<4xui32>)
%out = stablehlo.xor %21#0, %21#1 : tensor<4xui32>
)");
}

TEST_CASE("distributions are those of jax.random") {
    const auto text = [](Distribution distribution, DType dtype) {
        const std::string whole = body_of(drawn({distribution, {7, 9}}), {}, {dtype, {4}});
        return whole.substr(whole.find("stablehlo.xor"));
    };
    Distribution normal = of(DistributionKind::normal);
    normal.scale = 0.5;
    normal.offset = 2;
    CHECK(text(normal, DType::bf16) ==
          R"(stablehlo.xor %16#0, %16#1 : tensor<4xui32>
%18 = stablehlo.constant dense<-0.9999999403953552> : tensor<4xf32>
%19 = stablehlo.constant dense<1.0> : tensor<4xf32>
%20 = stablehlo.constant dense<9> : tensor<4xui32>
%21 = stablehlo.shift_right_logical %17, %20 : tensor<4xui32>
%22 = stablehlo.constant dense<1065353216> : tensor<4xui32>
%23 = stablehlo.or %21, %22 : tensor<4xui32>
%24 = stablehlo.bitcast_convert %23 : (tensor<4xui32>) -> tensor<4xf32>
%25 = stablehlo.constant dense<1.0> : tensor<4xf32>
%26 = stablehlo.subtract %24, %25 : tensor<4xf32>
%27 = stablehlo.subtract %19, %18 : tensor<4xf32>
%28 = stablehlo.multiply %26, %27 : tensor<4xf32>
%29 = stablehlo.add %28, %18 : tensor<4xf32>
%30 = stablehlo.maximum %18, %29 : tensor<4xf32>
%31 = chlo.erf_inv %30 : tensor<4xf32> -> tensor<4xf32>
%32 = stablehlo.constant dense<1.4142135381698608> : tensor<4xf32>
%33 = stablehlo.multiply %32, %31 : tensor<4xf32>
%34 = stablehlo.constant dense<0.5> : tensor<4xf32>
%35 = stablehlo.multiply %33, %34 : tensor<4xf32>
%36 = stablehlo.constant dense<2.0> : tensor<4xf32>
%37 = stablehlo.add %35, %36 : tensor<4xf32>
%out = stablehlo.convert %37 : (tensor<4xf32>) -> tensor<4xbf16>
)");
    Distribution rare = of(DistributionKind::bernoulli);
    rare.probability = 0.25;
    CHECK(text(rare, DType::boolean) ==
          R"(stablehlo.xor %16#0, %16#1 : tensor<4xui32>
%18 = stablehlo.constant dense<0.0> : tensor<4xf32>
%19 = stablehlo.constant dense<1.0> : tensor<4xf32>
%20 = stablehlo.constant dense<9> : tensor<4xui32>
%21 = stablehlo.shift_right_logical %17, %20 : tensor<4xui32>
%22 = stablehlo.constant dense<1065353216> : tensor<4xui32>
%23 = stablehlo.or %21, %22 : tensor<4xui32>
%24 = stablehlo.bitcast_convert %23 : (tensor<4xui32>) -> tensor<4xf32>
%25 = stablehlo.constant dense<1.0> : tensor<4xf32>
%26 = stablehlo.subtract %24, %25 : tensor<4xf32>
%27 = stablehlo.subtract %19, %18 : tensor<4xf32>
%28 = stablehlo.multiply %26, %27 : tensor<4xf32>
%29 = stablehlo.add %28, %18 : tensor<4xf32>
%30 = stablehlo.maximum %18, %29 : tensor<4xf32>
%31 = stablehlo.constant dense<0.25> : tensor<4xf32>
%out = stablehlo.compare LT, %30, %31 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
)");
    CHECK(text(of(DistributionKind::truncated_normal, -2, 2), DType::f32) ==
          R"(stablehlo.xor %16#0, %16#1 : tensor<4xui32>
%18 = stablehlo.constant dense<-1.4142135381698608> : tensor<f32>
%19 = chlo.erf %18 : tensor<f32> -> tensor<f32>
%20 = stablehlo.broadcast_in_dim %19, dims = [] : (tensor<f32>) -> tensor<4xf32>
%21 = stablehlo.constant dense<1.4142135381698608> : tensor<f32>
%22 = chlo.erf %21 : tensor<f32> -> tensor<f32>
%23 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<f32>) -> tensor<4xf32>
%24 = stablehlo.constant dense<9> : tensor<4xui32>
%25 = stablehlo.shift_right_logical %17, %24 : tensor<4xui32>
%26 = stablehlo.constant dense<1065353216> : tensor<4xui32>
%27 = stablehlo.or %25, %26 : tensor<4xui32>
%28 = stablehlo.bitcast_convert %27 : (tensor<4xui32>) -> tensor<4xf32>
%29 = stablehlo.constant dense<1.0> : tensor<4xf32>
%30 = stablehlo.subtract %28, %29 : tensor<4xf32>
%31 = stablehlo.subtract %23, %20 : tensor<4xf32>
%32 = stablehlo.multiply %30, %31 : tensor<4xf32>
%33 = stablehlo.add %32, %20 : tensor<4xf32>
%34 = stablehlo.maximum %20, %33 : tensor<4xf32>
%35 = chlo.erf_inv %34 : tensor<4xf32> -> tensor<4xf32>
%36 = stablehlo.constant dense<1.4142135381698608> : tensor<4xf32>
%37 = stablehlo.multiply %36, %35 : tensor<4xf32>
%38 = stablehlo.constant dense<-1.9999998807907104> : tensor<4xf32>
%39 = stablehlo.constant dense<1.9999998807907104> : tensor<4xf32>
%out = stablehlo.clamp %38, %37, %39 : tensor<4xf32>
)");
    CHECK(text(of(DistributionKind::randint, -3, 5), DType::i32) ==
          R"(stablehlo.xor %23#0, %23#1 : tensor<4xui32>
%25 = stablehlo.constant dense<0> : tensor<4xui32>
%26 = stablehlo.constant dense<1> : tensor<4xui32>
%27:2 = func.call @threefry_4(%13, %14, %25, %26) : (tensor<4xui32>, tensor<4xui32>, tensor<4xui32>,
    tensor<4xui32>) -> (tensor<4xui32>, tensor<4xui32>)
%28 = stablehlo.constant dense<0> : tensor<4xui32>
%29:2 = func.call @threefry_4(%27#0, %27#1, %28, %10) : (tensor<4xui32>, tensor<4xui32>,
    tensor<4xui32>, tensor<4xui32>) -> (tensor<4xui32>, tensor<4xui32>)
%30 = stablehlo.xor %29#0, %29#1 : tensor<4xui32>
%31 = stablehlo.constant dense<8> : tensor<4xui32>
%32 = stablehlo.remainder %24, %31 : tensor<4xui32>
%33 = stablehlo.constant dense<0> : tensor<4xui32>
%34 = stablehlo.multiply %32, %33 : tensor<4xui32>
%35 = stablehlo.remainder %30, %31 : tensor<4xui32>
%36 = stablehlo.add %34, %35 : tensor<4xui32>
%37 = stablehlo.remainder %36, %31 : tensor<4xui32>
%38 = stablehlo.constant dense<4294967293> : tensor<4xui32>
%39 = stablehlo.add %38, %37 : tensor<4xui32>
%out = stablehlo.convert %39 : (tensor<4xui32>) -> tensor<4xi32>
)");
}

TEST_CASE("whole numbers from all that 32 bits have are the words as they are, fewer are remainders") {
    const auto remainders = [](double high) {
        const std::string body =
            body_of(drawn({of(DistributionKind::randint, -2147483648.0, high), {7, 9}}), {}, {DType::i32, {4}});
        int count = 0;
        for (size_t at = body.find("stablehlo.remainder"); at != std::string::npos;
             at = body.find("stablehlo.remainder", at + 1))
            ++count;
        return count;
    };
    CHECK(remainders(2147483648.0) == 1); // of the device's number
    CHECK(remainders(2147483647.0) == 4);
}
