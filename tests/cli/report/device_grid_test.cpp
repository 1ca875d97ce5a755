#include "cli/report/device_grid.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

const Mesh mesh = {{{"data", 2, ""}, {"model", 4, ""}}, {}};

TensorReport tensor(const Mesh& on, Shape shape, const char* sharding, std::vector<std::string> logical = {}) {
    TensorReport report{"w1", Role::param, DType::f32, shape, std::move(logical), *parse_sharding(on, sharding),
                        {},   0,           {}};
    report.local_shape = local_shape(shape, report.sharding);
    report.bytes_per_device = element_count(report.local_shape) * 4;
    return report;
}

std::string draw(Shape shape, const char* sharding, std::vector<std::string> logical = {}) {
    return device_grid(mesh, tensor(mesh, std::move(shape), sharding, std::move(logical)), "w1", {});
}

} // namespace

TEST_CASE("columns over model: copies over data share a cell, as in JAX's picture") {
    CHECK(draw({1024, 1024}, "[- | model]", {"embed", "hidden"}) ==
          R"(w1  param  f32 (embed 1024, hidden 1024)  [- | model]
  a device holds (1024, 256), 1.00 MiB; 4 parts, each on 2 devices: copies over data

           hidden over model; rows: embed
           0..255 256..511 512..767 768..1023
          +------+--------+--------+---------+
  0..1023 | 0,4  |  1,5   |  2,6   |   3,7   |
          +------+--------+--------+---------+
)");
}

TEST_CASE("rows over data: runs of ids are ranges") {
    CHECK(draw({8, 4}, "[data | -]") == R"(w1  param  f32 (8, 4)  [data | -]
  a device holds (4, 4), 64 B; 2 parts, each on 4 devices: copies over model

        dim 1; rows: dim 0 over data
        0..3
       +-----+
  0..3 | 0-3 |
       +-----+
  4..7 | 4-7 |
       +-----+
)");
}

TEST_CASE("both dims sharded: every device has its own part, and ids follow the mesh") {
    Mesh permuted = mesh;
    permuted.device_ids = {7, 6, 5, 4, 3, 2, 1, 0};
    CHECK(device_grid(permuted, tensor(permuted, {2, 4}, "[data | model]"), "x", {}) ==
          R"(x  param  f32 (2, 4)  [data | model]
  a device holds (1, 1), 4 B; 8 parts, one a device

     dim 1 over model; rows: dim 0 over data
      0   1   2   3
    +---+---+---+---+
  0 | 7 | 6 | 5 | 4 |
    +---+---+---+---+
  1 | 3 | 2 | 1 | 0 |
    +---+---+---+---+
)");
}

TEST_CASE("a vector is one row, a replicated value needs no picture, a higher rank is listed by dim") {
    CHECK(draw({8}, "[data,model]").find("\n   | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 |\n") != std::string::npos);
    CHECK(draw({4, 4}, "[- | -]") ==
          "w1  param  f32 (4, 4)  [- | -]\n  a device holds (4, 4), 64 B; all of it, on each of 8 devices\n");
    CHECK(draw({2, 3, 8}, "[data | - | model]", {"batch", "", "heads"}) ==
          R"(w1  param  f32 (batch 2, 3, heads 8)  [data | - | model]
  a device holds (1, 3, 2), 24 B; 8 parts, one a device
  batch over data: 2 parts of 1
    0  devices 0-3
    1  devices 4-7
  heads over model: 4 parts of 2
    0..1  devices 0,4
    2..3  devices 1,5
    4..5  devices 2,6
    6..7  devices 3,7
)");
}

TEST_CASE("a large mesh is drawn without its middle") {
    Mesh large = {{{"data", 1024, ""}}, {}};
    std::string text = device_grid(large, tensor(large, {1024}, "[data]"), "x", {});
    CHECK(text.find("| 4 | 5 | ... | 1023 |") != std::string::npos);
    std::vector<i64> odd;
    for (i64 i = 1; i < 100; i += 2) odd.push_back(i);
    CHECK(id_list(odd) == "1,3,5,7,9,11,... 50 devices");
}

TEST_CASE("a mesh of more devices than anybody lists is drawn with their number") {
    const Mesh endless = {{{"data", i64{1} << 40, ""}, {"model", 2, ""}}, {}};
    const std::string grid = device_grid(endless, tensor(endless, {4}, "[model]"), "x", {});
    CHECK(grid.find("| 1099511627776 devices | 1099511627776 devices |") != std::string::npos);
    const std::string listed = device_grid(endless, tensor(endless, {4, 1, 1}, "[model | - | -]"), "x", {});
    CHECK(listed.find("0..1  1099511627776 devices\n") != std::string::npos);
}
