// A kernel of each class, and the ops that it becomes.
#include "tests/exporter/stablehlo/exported_body.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

const LocalType f32_4x8 = {DType::f32, {4, 8}}, f32_8 = {DType::f32, {8}};

Affine at_a(i64 coefficient) { return block_start(2 * coefficient, std::vector<AxisRef>{{0, 1, 2}}); }

// One piece over whole strides of one.
MovePiece piece(std::vector<i64> in_start, std::vector<i64> out_start, std::vector<i64> extent) {
    MovePiece made;
    for (i64 start : in_start) made.in_start.push_back(constant(start));
    for (i64 start : out_start) made.out_start.push_back(constant(start));
    made.in_stride.assign(in_start.size(), 1);
    made.out_stride.assign(in_start.size(), 1);
    made.extent = std::move(extent);
    return made;
}

Move move(std::vector<MovePiece> pieces) {
    Move made;
    made.pieces = std::move(pieces);
    return made;
}

} // namespace

TEST_CASE("a contraction is a dot_general, and its result is turned where the plan has it otherwise") {
    CHECK(body_of(Contract{{0, 1, 2}, {0, 2, 3}, {1, 0, 3}}, {{DType::f32, {2, 4, 8}}, {DType::f32, {2, 8, 3}}},
                  {DType::f32, {4, 2, 3}}) ==
          R"(%0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1],
    precision = [HIGHEST, HIGHEST] : (tensor<2x4x8xf32>, tensor<2x8x3xf32>) -> tensor<2x4x3xf32>
%out = stablehlo.transpose %0, dims = [1, 0, 2] : (tensor<2x4x3xf32>) -> tensor<4x2x3xf32>
)");
    CHECK(body_of(Contract{{0, 1}, {1, 2}, {0, 2}}, {{DType::bf16, {4, 8}}, {DType::bf16, {8, 2}}},
                  {DType::bf16, {4, 2}}) ==
          R"(%0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x8xbf16>,
    tensor<8x2xbf16>) -> tensor<4x2xf32>
%out = stablehlo.convert %0 : (tensor<4x2xf32>) -> tensor<4x2xbf16>
)");
    CHECK(body_of(Contract{{0, 1}, {0, 2}, {0, 1, 2}}, {{DType::f32, {4, 8}}, {DType::f32, {4, 2}}},
                  {DType::f32, {4, 8, 2}}) ==
          R"(%out = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [] x [],
    precision = [HIGHEST, HIGHEST] : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<4x8x2xf32>
)");
    CHECK(body_of(Contract{{0, 1}, {1, 2}, {0, 2}}, {{DType::boolean, {4, 8}}, {DType::boolean, {8, 2}}},
                  {DType::boolean, {4, 2}}) ==
          R"(%0 = stablehlo.convert %x : (tensor<4x8xi1>) -> tensor<4x8xi32>
%1 = stablehlo.convert %y : (tensor<8x2xi1>) -> tensor<8x2xi32>
%2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<4x8xi32>, tensor<8x2xi32>)
    -> tensor<4x2xi32>
%3 = stablehlo.constant dense<0> : tensor<4x2xi32>
%out = stablehlo.compare NE, %2, %3 : (tensor<4x2xi32>, tensor<4x2xi32>) -> tensor<4x2xi1>
)");
}

TEST_CASE("a pointwise kernel is an op for each instruction over the result's shape") {
    Pointwise kernel;
    kernel.input_dims = {{0, 1}, {1}};
    const auto step = [](ScalarOp op, std::array<int, 3> args, DType dtype = DType::f32) {
        ScalarStep made;
        made.op = op;
        made.args = args;
        made.dtype = dtype;
        return made;
    };
    kernel.steps = {step(ScalarOp::input, {0}),
                    step(ScalarOp::input, {1}),
                    step(ScalarOp::mul, {0, 1}),
                    step(ScalarOp::index, {0}, DType::i32),
                    step(ScalarOp::constant, {}, DType::i32),
                    step(ScalarOp::lt, {3, 4}, DType::boolean),
                    step(ScalarOp::erf, {2}),
                    step(ScalarOp::select, {5, 6, 2})};
    kernel.steps[3].start = at_a(4);
    kernel.steps[4].value = 3;
    CHECK(body_of(kernel, {f32_4x8, f32_8}, f32_4x8) ==
          R"(%3 = stablehlo.partition_id : tensor<ui32>
%4 = stablehlo.convert %3 : (tensor<ui32>) -> tensor<i64>
%5 = stablehlo.constant dense<2> : tensor<i64>
%6 = stablehlo.divide %4, %5 : tensor<i64>
%7 = stablehlo.constant dense<2> : tensor<i64>
%at.a = stablehlo.remainder %6, %7 : tensor<i64>
%0 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
%1 = stablehlo.multiply %x, %0 : tensor<4x8xf32>
%2 = stablehlo.iota dim = 0 : tensor<4x8xi32>
%8 = stablehlo.constant dense<4> : tensor<i64>
%9 = stablehlo.multiply %at.a, %8 : tensor<i64>
%10 = stablehlo.convert %9 : (tensor<i64>) -> tensor<i32>
%11 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<i32>) -> tensor<4x8xi32>
%12 = stablehlo.add %2, %11 : tensor<4x8xi32>
%13 = stablehlo.constant dense<3> : tensor<4x8xi32>
%14 = stablehlo.compare LT, %12, %13 : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
%15 = chlo.erf %1 : tensor<4x8xf32> -> tensor<4x8xf32>
%out = stablehlo.select %14, %15, %1 : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) ->
    tensor<4x8xf32>
)");
}

TEST_CASE("a reduction begins with its neutral number, and sums of bf16 are in f32") {
    CHECK(body_of(Reduce{{0}, ReduceOp::sum}, {{DType::bf16, {4, 8}}}, {DType::bf16, {8}}) ==
          R"(%0 = stablehlo.convert %x : (tensor<4x8xbf16>) -> tensor<4x8xf32>
%1 = stablehlo.constant dense<0.0> : tensor<f32>
%2 = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0] : (tensor<4x8xf32>,
    tensor<f32>) -> tensor<8xf32>
%out = stablehlo.convert %2 : (tensor<8xf32>) -> tensor<8xbf16>
)");
    CHECK(body_of(Reduce{{0, 1}, ReduceOp::max}, {f32_4x8}, {DType::f32, {}}) ==
          R"(%0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
%out = stablehlo.reduce(%x init: %0) applies stablehlo.maximum across dimensions = [0, 1] :
    (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
)");
    CHECK(body_of(Reduce{{1}, ReduceOp::min}, {{DType::i64, {4, 8}}}, {DType::i64, {4}}) ==
          R"(%0 = stablehlo.constant dense<9223372036854775807> : tensor<i64>
%out = stablehlo.reduce(%x init: %0) applies stablehlo.minimum across dimensions = [1] :
    (tensor<4x8xi64>, tensor<i64>) -> tensor<4xi64>
)");
    CHECK(body_of(Reduce{{1}, ReduceOp::max}, {{DType::boolean, {4, 8}}}, {DType::boolean, {4}}) ==
          R"(%0 = stablehlo.constant dense<false> : tensor<i1>
%out = stablehlo.reduce(%x init: %0) applies stablehlo.or across dimensions = [1] : (tensor<4x8xi1>,
    tensor<i1>) -> tensor<4xi1>
)");
}

TEST_CASE("a running reduction combines in steps that double") {
    CHECK(body_of(Scan{0, ScanOp::sum, false}, {{DType::f32, {4}}}, {DType::f32, {4}}) ==
          R"(%0 = stablehlo.constant dense<0.0> : tensor<f32>
%1 = stablehlo.pad %x, %0, low = [1], high = [-1], interior = [0] : (tensor<4xf32>, tensor<f32>) ->
    tensor<4xf32>
%2 = stablehlo.add %1, %x : tensor<4xf32>
%3 = stablehlo.pad %2, %0, low = [2], high = [-2], interior = [0] : (tensor<4xf32>, tensor<f32>) ->
    tensor<4xf32>
%out = stablehlo.add %3, %2 : tensor<4xf32>
)");
    CHECK(body_of(Scan{0, ScanOp::linear, true}, {{DType::f32, {2}}, {DType::f32, {2}}}, {DType::f32, {2}}) ==
          R"(%0 = stablehlo.constant dense<0.0> : tensor<f32>
%1 = stablehlo.constant dense<1.0> : tensor<f32>
%2 = stablehlo.pad %y, %0, low = [-1], high = [1], interior = [0] : (tensor<2xf32>, tensor<f32>) ->
    tensor<2xf32>
%3 = stablehlo.multiply %x, %2 : tensor<2xf32>
%out = stablehlo.add %3, %y : tensor<2xf32>
)");
}

TEST_CASE("an order is that of the positions, sorted with their keys") {
    CHECK(body_of(Sort{1, false}, {{DType::f32, {4, 8}}}, {DType::i32, {4, 2}}) ==
          R"(%0 = stablehlo.iota dim = 1 : tensor<4x8xi32>
%1:2 = "stablehlo.sort"(%x, %0) <{dimension = 1 : i64, is_stable = true}> ({
^bb0(%2: tensor<f32>, %3: tensor<f32>, %4: tensor<i32>, %5: tensor<i32>):
  %6 = stablehlo.compare LT, %2, %3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %7 = stablehlo.compare EQ, %2, %2 : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %8 = stablehlo.compare NE, %3, %3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %9 = stablehlo.and %7, %8 : tensor<i1>
  %10 = stablehlo.or %6, %9 : tensor<i1>
  stablehlo.return %10 : tensor<i1>
}) : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<4x8xf32>, tensor<4x8xi32>)
%out = stablehlo.slice %1#1 [0:4, 0:2] : (tensor<4x8xi32>) -> tensor<4x2xi32>
)");
    CHECK(body_of(Sort{0, true}, {{DType::i32, {8}}, {DType::i32, {8}}}, {DType::i32, {8}}) ==
          R"(%0 = stablehlo.iota dim = 0 : tensor<8xi32>
%1:3 = "stablehlo.sort"(%x, %y, %0) <{dimension = 0 : i64, is_stable = true}> ({
^bb0(%2: tensor<i32>, %3: tensor<i32>, %4: tensor<i32>, %5: tensor<i32>, %6: tensor<i32>, %7:
    tensor<i32>):
  %8 = stablehlo.compare LT, %5, %4 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %9 = stablehlo.compare LT, %3, %2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %10 = stablehlo.compare LT, %2, %3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %11 = stablehlo.not %10 : tensor<i1>
  %12 = stablehlo.and %11, %8 : tensor<i1>
  %13 = stablehlo.or %9, %12 : tensor<i1>
  stablehlo.return %13 : tensor<i1>
}) : (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>)
)");
}

TEST_CASE("a move is slices, a concatenation or a padding where it is that") {
    Move turned = move({piece({0, 2}, {0, 0}, {4, 4})});
    turned.permutation = {1, 0};
    CHECK(body_of(turned, {f32_4x8}, {DType::f32, {4, 4}}) ==
          R"(%0 = stablehlo.slice %x [0:4, 2:6] : (tensor<4x8xf32>) -> tensor<4x4xf32>
%out = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
)");
    Move own = move({piece({0, 0}, {0, 0}, {2, 8})});
    own.pieces[0].in_start[0] = at_a(2);
    CHECK(body_of(own, {f32_4x8}, {DType::f32, {2, 8}}) ==
          R"(%0 = stablehlo.partition_id : tensor<ui32>
%1 = stablehlo.convert %0 : (tensor<ui32>) -> tensor<i64>
%2 = stablehlo.constant dense<2> : tensor<i64>
%3 = stablehlo.divide %1, %2 : tensor<i64>
%4 = stablehlo.constant dense<2> : tensor<i64>
%at.a = stablehlo.remainder %3, %4 : tensor<i64>
%5 = stablehlo.constant dense<2> : tensor<i64>
%6 = stablehlo.multiply %at.a, %5 : tensor<i64>
%7 = stablehlo.constant dense<0> : tensor<i64>
%out = stablehlo.dynamic_slice %x, %6, %7, sizes = [2, 8] : (tensor<4x8xf32>, tensor<i64>,
    tensor<i64>) -> tensor<2x8xf32>
)");
    Move backwards = move({piece({7}, {0}, {4})});
    backwards.pieces[0].in_stride[0] = -2;
    CHECK(body_of(backwards, {f32_8}, {DType::f32, {4}}) ==
          R"(%0 = stablehlo.slice %x [1:8:2] : (tensor<8xf32>) -> tensor<4xf32>
%out = stablehlo.reverse %0, dims = [0] : tensor<4xf32>
)");
    Move joined = move({piece({0}, {0}, {8}), piece({0}, {8}, {8})});
    joined.pieces[1].operand = 1;
    CHECK(body_of(joined, {f32_8, f32_8}, {DType::f32, {16}}) ==
          R"(%out = stablehlo.concatenate %x, %y, dim = 0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
)");
    Move padded = move({piece({0}, {1}, {8})});
    padded.pieces[0].out_stride[0] = 2;
    padded.fill = 2.5;
    CHECK(body_of(padded, {f32_8}, {DType::f32, {18}}) ==
          R"(%0 = stablehlo.constant dense<2.5> : tensor<f32>
%out = stablehlo.pad %x, %0, low = [1], high = [2], interior = [1] : (tensor<8xf32>, tensor<f32>) ->
    tensor<18xf32>
)");
    Move flat;
    flat.flat = true;
    CHECK(body_of(flat, {f32_4x8}, {DType::f32, {32}}) ==
          R"(%out = stablehlo.reshape %x : (tensor<4x8xf32>) -> tensor<32xf32>
)");
}

TEST_CASE("a piece that lies in what is there is an update, and of one that reaches out each element is chosen") {
    Move into = move({piece({0}, {0}, {8}), piece({0}, {0}, {2})});
    into.pieces[1].operand = 1;
    into.pieces[1].out_start[0] = at_a(4);
    CHECK(body_of(into, {f32_8, {DType::f32, {2}}}, f32_8) ==
          R"(%0 = stablehlo.partition_id : tensor<ui32>
%1 = stablehlo.convert %0 : (tensor<ui32>) -> tensor<i64>
%2 = stablehlo.constant dense<2> : tensor<i64>
%3 = stablehlo.divide %1, %2 : tensor<i64>
%4 = stablehlo.constant dense<2> : tensor<i64>
%at.a = stablehlo.remainder %3, %4 : tensor<i64>
%5 = stablehlo.constant dense<4> : tensor<i64>
%6 = stablehlo.multiply %at.a, %5 : tensor<i64>
%out = stablehlo.dynamic_update_slice %x, %y, %6 : (tensor<8xf32>, tensor<2xf32>, tensor<i64>) ->
    tensor<8xf32>
)");
    Move out = move({piece({0}, {0}, {8})});
    out.pieces[0].in_start[0] = at_a(4);
    CHECK(body_of(out, {f32_8}, f32_8) ==
          R"(%3 = stablehlo.partition_id : tensor<ui32>
%4 = stablehlo.convert %3 : (tensor<ui32>) -> tensor<i64>
%5 = stablehlo.constant dense<2> : tensor<i64>
%6 = stablehlo.divide %4, %5 : tensor<i64>
%7 = stablehlo.constant dense<2> : tensor<i64>
%at.a = stablehlo.remainder %6, %7 : tensor<i64>
%0 = stablehlo.constant dense<0.0> : tensor<8xf32>
%1 = stablehlo.constant dense<0> : tensor<i64>
%2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<i64>) -> tensor<8xi64>
%8 = stablehlo.constant dense<4> : tensor<i64>
%9 = stablehlo.multiply %at.a, %8 : tensor<i64>
%10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i64>) -> tensor<8xi64>
%11 = stablehlo.iota dim = 0 : tensor<8xi64>
%12 = stablehlo.subtract %11, %2 : tensor<8xi64>
%13 = stablehlo.constant dense<1> : tensor<8xi64>
%14 = stablehlo.divide %12, %13 : tensor<8xi64>
%15 = stablehlo.constant dense<1> : tensor<8xi64>
%16 = stablehlo.remainder %12, %15 : tensor<8xi64>
%17 = stablehlo.constant dense<1> : tensor<8xi64>
%18 = stablehlo.multiply %14, %17 : tensor<8xi64>
%19 = stablehlo.add %10, %18 : tensor<8xi64>
%20 = stablehlo.constant dense<0> : tensor<8xi64>
%21 = stablehlo.compare EQ, %16, %20 : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi1>
%22 = stablehlo.constant dense<0> : tensor<8xi64>
%23 = stablehlo.compare GE, %14, %22 : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi1>
%24 = stablehlo.constant dense<8> : tensor<8xi64>
%25 = stablehlo.compare LT, %14, %24 : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi1>
%26 = stablehlo.constant dense<0> : tensor<8xi64>
%27 = stablehlo.compare GE, %19, %26 : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi1>
%28 = stablehlo.constant dense<8> : tensor<8xi64>
%29 = stablehlo.compare LT, %19, %28 : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi1>
%30 = stablehlo.and %21, %23 : tensor<8xi1>
%31 = stablehlo.and %30, %25 : tensor<8xi1>
%32 = stablehlo.and %31, %27 : tensor<8xi1>
%33 = stablehlo.and %32, %29 : tensor<8xi1>
%34 = "stablehlo.gather"(%x, %19) <{dimension_numbers = #stablehlo.gather<offset_dims = [],
    collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes =
    array<i64: 1>}> : (tensor<8xf32>, tensor<8xi64>) -> tensor<8xf32>
%out = stablehlo.select %33, %34, %0 : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
)");
}

TEST_CASE("a lookup clamps its indices, and rows that another device has are zeros") {
    CHECK(body_of(Gather{0, 4, {}}, {f32_4x8, {DType::i32, {3}}}, {DType::f32, {3, 8}}) ==
          R"(%0 = stablehlo.constant dense<0> : tensor<3xi32>
%1 = stablehlo.constant dense<3> : tensor<3xi32>
%2 = stablehlo.clamp %0, %y, %1 : tensor<3xi32>
%out = "stablehlo.gather"(%x, %2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
    collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes =
    array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<3xi32>) -> tensor<3x8xf32>
)");
    CHECK(body_of(Gather{0, 8, at_a(4)}, {f32_4x8, {DType::i32, {3}}}, {DType::f32, {3, 8}}) ==
          R"(%3 = stablehlo.partition_id : tensor<ui32>
%4 = stablehlo.convert %3 : (tensor<ui32>) -> tensor<i64>
%5 = stablehlo.constant dense<2> : tensor<i64>
%6 = stablehlo.divide %4, %5 : tensor<i64>
%7 = stablehlo.constant dense<2> : tensor<i64>
%at.a = stablehlo.remainder %6, %7 : tensor<i64>
%0 = stablehlo.constant dense<0> : tensor<3xi32>
%1 = stablehlo.constant dense<7> : tensor<3xi32>
%2 = stablehlo.clamp %0, %y, %1 : tensor<3xi32>
%8 = stablehlo.constant dense<4> : tensor<i64>
%9 = stablehlo.multiply %at.a, %8 : tensor<i64>
%10 = stablehlo.convert %9 : (tensor<i64>) -> tensor<i32>
%11 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<i32>) -> tensor<3xi32>
%12 = stablehlo.subtract %2, %11 : tensor<3xi32>
%13 = "stablehlo.gather"(%x, %12) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
    collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes =
    array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<3xi32>) -> tensor<3x8xf32>
%14 = stablehlo.constant dense<0> : tensor<3xi32>
%15 = stablehlo.constant dense<4> : tensor<3xi32>
%16 = stablehlo.compare GE, %12, %14 : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
%17 = stablehlo.compare LT, %12, %15 : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
%18 = stablehlo.and %16, %17 : tensor<3xi1>
%19 = stablehlo.broadcast_in_dim %18, dims = [0] : (tensor<3xi1>) -> tensor<3x8xi1>
%20 = stablehlo.constant dense<0.0> : tensor<3x8xf32>
%out = stablehlo.select %19, %13, %20 : (tensor<3x8xi1>, tensor<3x8xf32>, tensor<3x8xf32>) ->
    tensor<3x8xf32>
)");
    // Pairs stand where the table has them: the indices' dims are turned.
    CHECK(body_of(Gather{1, 5, {}, {{0, 1}, {2, 0}}}, {{DType::f32, {2, 5, 3}}, {DType::i32, {3, 2}}},
                  {DType::f32, {2, 3}}) ==
          R"(%0 = stablehlo.constant dense<0> : tensor<3x2xi32>
%1 = stablehlo.constant dense<4> : tensor<3x2xi32>
%2 = stablehlo.clamp %0, %y, %1 : tensor<3x2xi32>
%3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<3x2xi32>) -> tensor<2x3xi32>
%out = "stablehlo.gather"(%x, %3) <{dimension_numbers = #stablehlo.gather<offset_dims = [],
    collapsed_slice_dims = [1], operand_batching_dims = [0, 2], start_indices_batching_dims = [0,
    1], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 1>}> :
    (tensor<2x5x3xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
)");
}

TEST_CASE("a combination into rows leaves out what another device has") {
    CHECK(body_of(Scatter{0, 8, at_a(4)}, {{DType::i32, {3}}, {DType::bf16, {3, 8}}}, {DType::bf16, {4, 8}}) ==
          R"(%3 = stablehlo.partition_id : tensor<ui32>
%4 = stablehlo.convert %3 : (tensor<ui32>) -> tensor<i64>
%5 = stablehlo.constant dense<2> : tensor<i64>
%6 = stablehlo.divide %4, %5 : tensor<i64>
%7 = stablehlo.constant dense<2> : tensor<i64>
%at.a = stablehlo.remainder %6, %7 : tensor<i64>
%0 = stablehlo.constant dense<0> : tensor<3xi32>
%1 = stablehlo.constant dense<7> : tensor<3xi32>
%2 = stablehlo.clamp %0, %x, %1 : tensor<3xi32>
%8 = stablehlo.constant dense<4> : tensor<i64>
%9 = stablehlo.multiply %at.a, %8 : tensor<i64>
%10 = stablehlo.convert %9 : (tensor<i64>) -> tensor<i32>
%11 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<i32>) -> tensor<3xi32>
%12 = stablehlo.subtract %2, %11 : tensor<3xi32>
%13 = stablehlo.convert %y : (tensor<3x8xbf16>) -> tensor<3x8xf32>
%14 = stablehlo.constant dense<0.0> : tensor<4x8xf32>
%15 = "stablehlo.scatter"(%14, %12, %13) <{scatter_dimension_numbers =
    #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
    scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
^bb0(%16: tensor<f32>, %17: tensor<f32>):
  %18 = stablehlo.add %16, %17 : tensor<f32>
  stablehlo.return %18 : tensor<f32>
}) : (tensor<4x8xf32>, tensor<3xi32>, tensor<3x8xf32>) -> tensor<4x8xf32>
%out = stablehlo.convert %15 : (tensor<4x8xf32>) -> tensor<4x8xbf16>
)");
    CHECK(body_of(Scatter{0, 4, {}, ReduceOp::max}, {{DType::i32, {3}}, {DType::i32, {3}}}, {DType::i32, {4}}) ==
          R"(%0 = stablehlo.constant dense<0> : tensor<3xi32>
%1 = stablehlo.constant dense<3> : tensor<3xi32>
%2 = stablehlo.clamp %0, %x, %1 : tensor<3xi32>
%3 = stablehlo.constant dense<-2147483648> : tensor<4xi32>
%out = "stablehlo.scatter"(%3, %2, %y) <{scatter_dimension_numbers =
    #stablehlo.scatter<update_window_dims = [], inserted_window_dims = [0],
    scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
^bb0(%5: tensor<i32>, %6: tensor<i32>):
  %7 = stablehlo.maximum %5, %6 : tensor<i32>
  stablehlo.return %7 : tensor<i32>
}) : (tensor<4xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<4xi32>
)");
}

TEST_CASE("values from nothing are constants and counts, of which a device has its part") {
    CHECK(body_of(Generate{Fill{1.5}, {4}, {constant(0)}}, {}, {DType::f32, {4}}) ==
          R"(%out = stablehlo.constant dense<1.5> : tensor<4xf32>
)");
    CHECK(body_of(Generate{Literal{{1, 2, 3, 4}}, {2, 2}, {at_a(1), constant(0)}}, {}, {DType::i32, {1, 2}}) ==
          R"(%1 = stablehlo.partition_id : tensor<ui32>
%2 = stablehlo.convert %1 : (tensor<ui32>) -> tensor<i64>
%3 = stablehlo.constant dense<2> : tensor<i64>
%4 = stablehlo.divide %2, %3 : tensor<i64>
%5 = stablehlo.constant dense<2> : tensor<i64>
%at.a = stablehlo.remainder %4, %5 : tensor<i64>
%0 = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
%6 = stablehlo.constant dense<0> : tensor<i64>
%out = stablehlo.dynamic_slice %0, %at.a, %6, sizes = [1, 2] : (tensor<2x2xi32>, tensor<i64>,
    tensor<i64>) -> tensor<1x2xi32>
)");
    CHECK(body_of(Generate{Iota{0}, {8}, {at_a(4)}}, {}, {DType::i32, {4}}) ==
          R"(%1 = stablehlo.partition_id : tensor<ui32>
%2 = stablehlo.convert %1 : (tensor<ui32>) -> tensor<i64>
%3 = stablehlo.constant dense<2> : tensor<i64>
%4 = stablehlo.divide %2, %3 : tensor<i64>
%5 = stablehlo.constant dense<2> : tensor<i64>
%at.a = stablehlo.remainder %4, %5 : tensor<i64>
%0 = stablehlo.iota dim = 0 : tensor<4xi32>
%6 = stablehlo.constant dense<4> : tensor<i64>
%7 = stablehlo.multiply %at.a, %6 : tensor<i64>
%8 = stablehlo.convert %7 : (tensor<i64>) -> tensor<i32>
%9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<i32>) -> tensor<4xi32>
%out = stablehlo.add %0, %9 : tensor<4xi32>
)");
}
