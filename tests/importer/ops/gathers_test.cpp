// Lookups of which all go to one place. That the numbers are those of JAX is proved by the recorded programs
// (tests/importer/program), windows_at_one_place among them.
#include "tests/support/imported_model.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

// Of x (2, 16, 8) the window (`sizes`) at (i, 1), along dims 1 and 2, without the dims `dropped`.
std::string window(const std::string& sizes, const std::string& dropped, const std::string& type) {
    const std::string window_dims = dropped.empty() ? "0, 1, 2" : "0, 1";
    const std::string model =
        imported_program(
            fmt::format(
                "func.func @main(%x: tensor<2x16x8xf32> loc(\"x\"), %i: tensor<1xi32> loc(\"i\")) -> {0} {{\n"
                "  %one = stablehlo.constant dense<1> : tensor<1xi32>\n"
                "  %at = stablehlo.concatenate %i, %one, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>\n"
                "  %0 = \"stablehlo.gather\"(%x, %at) <{{dimension_numbers = #stablehlo.gather<offset_dims = [{1}], "
                "collapsed_slice_dims = [{2}], start_index_map = [1, 2]>, slice_sizes = array<i64: {3}>}}> : "
                "(tensor<2x16x8xf32>, tensor<2xi32>) -> {0}\n"
                "  return %0 : {0}\n}}\n",
                type, window_dims, dropped, sizes))
            .model;
    const size_t begin = model.find("graph:\n");
    return model.substr(begin, model.find("outputs:") - begin);
}

} // namespace

TEST_CASE("a gather of one window is a dynamic_slice") {
    const std::string start = "graph:\n  - reshape: {reshape: i, shape: []}\n";
    CHECK(window("2, 4, 8", "", "tensor<2x4x8xf32>") ==
          start + "  - result: {dynamic_slice: [x, reshape], dim: [1], size: [4]}\n");
    CHECK(window("2, 4, 1", "2", "tensor<2x4xf32>") == start +
                                                           "  - constant: {constant: 1, dtype: i32}\n"
                                                           "  - dynamic_slice: {dynamic_slice: [x, reshape, constant], "
                                                           "dim: [1, 2], size: [4, 1]}\n"
                                                           "  - result: {reshape: dynamic_slice, shape: [2, 4]}\n");
    CHECK(window("2, 1, 8", "1", "tensor<2x8xf32>").find("{gather: [x, reshape], dim: 1}") != std::string::npos);
}

} // namespace shard
