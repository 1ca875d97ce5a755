// A collective of each kind, over the devices that the plan says.
#include "tests/exporter/stablehlo/exported_body.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

// Over a mesh of a 2 x b 2, on the axis b; {0, 1} and {2, 3} are its groups.
std::string text(const std::string& kind, Collective fields, LocalType input, LocalType output,
                 std::vector<i64> devices = {}) {
    PlanBuilder builder(make_mesh({{"a", 2}, {"b", 2}}));
    builder.plan().mesh.device_ids = std::move(devices);
    fields.axes = builder.axes({"b"});
    const int x = builder.input("x", input.dtype, input.shape), out = builder.buffer("out", output.dtype, output.shape);
    for (AxisMove& move : fields.moves) move.axes = fields.axes;
    builder.collective(kind, fields, x, out);
    builder.output("out", out);
    return body_of(builder.plan());
}

const LocalType f32_4 = {DType::f32, {4}}, f32_8 = {DType::f32, {8}};

Collective reduces(ReduceOp op) {
    Collective fields;
    fields.reduce = op;
    return fields;
}
Collective moves(int from, int to) {
    Collective fields;
    fields.moves = {{from, to, {}}};
    return fields;
}

} // namespace

TEST_CASE("reductions between devices have their op as a region, and booleans are sent as they are") {
    CHECK(text("all_reduce", reduces(ReduceOp::prod), f32_4, f32_4) ==
          R"(%out = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type =
    1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
^bb0(%1: tensor<f32>, %2: tensor<f32>):
  %3 = stablehlo.multiply %1, %2 : tensor<f32>
  stablehlo.return %3 : tensor<f32>
}) : (tensor<4xf32>) -> tensor<4xf32>
)");
    CHECK(text("all_reduce", reduces(ReduceOp::sum), {DType::boolean, {4}}, {DType::boolean, {4}}) ==
          R"(%out = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type =
    1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
^bb0(%1: tensor<i1>, %2: tensor<i1>):
  %3 = stablehlo.or %1, %2 : tensor<i1>
  stablehlo.return %3 : tensor<i1>
}) : (tensor<4xi1>) -> tensor<4xi1>
)");
    CHECK(text("reduce_scatter", moves(-1, 0), f32_8, f32_4) ==
          R"(%out = "stablehlo.reduce_scatter"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type
    = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, scatter_dimension = 0 : i64,
    use_global_device_ids}> ({
^bb0(%1: tensor<f32>, %2: tensor<f32>):
  %3 = stablehlo.add %1, %2 : tensor<f32>
  stablehlo.return %3 : tensor<f32>
}) : (tensor<8xf32>) -> tensor<4xf32>
)");
}

TEST_CASE("blocks move between the dims that the plan says") {
    CHECK(text("all_gather", moves(0, -1), f32_4, f32_8) ==
          R"(%out = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, channel_handle =
    #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> :
    tensor<2x2xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
)");
    CHECK(text("all_to_all", moves(0, 1), {DType::f32, {2, 4}}, {DType::f32, {4, 2}}) ==
          R"(%out = "stablehlo.all_to_all"(%x) <{split_dimension = 1 : i64, concat_dimension = 0 : i64,
    split_count = 2 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
    replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<2x4xf32>) ->
    tensor<4x2xf32>
)");
}

TEST_CASE("who sends to whom is said of all devices") {
    Collective pairs, from;
    pairs.pairs = {{0, 1}};
    from.root = 1;
    CHECK(text("collective_permute", pairs, f32_4, f32_4) ==
          R"(%out = "stablehlo.collective_permute"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1,
    type = 1>, source_target_pairs = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<4xf32>)
    -> tensor<4xf32>
)");
    CHECK(text("broadcast", from, f32_4, f32_4) ==
          R"(%out = "stablehlo.collective_broadcast"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1,
    type = 1>, replica_groups = dense<[[1, 0], [3, 2]]> : tensor<2x2xi64>}> : (tensor<4xf32>) ->
    tensor<4xf32>
)");
}

TEST_CASE("devices are those that stand in the mesh") {
    CHECK(text("all_gather", moves(0, -1), f32_4, f32_8, {3, 2, 1, 0}) ==
          R"(%out = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, channel_handle =
    #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[3, 2], [1, 0]]> :
    tensor<2x2xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
)");
}
