#include "plans/plan/real_part.h"

#include <doctest/doctest.h>

namespace shard {

TEST_CASE("of a padded dim the last devices hold less that is real, or nothing") {
    Mesh mesh;
    mesh.axes = {{"data", 4, ""}, {"model", 2, ""}};
    Buffer buffer;
    buffer.global_shape = {8, 6};
    buffer.unpadded_shape = {5, 5};
    buffer.sharding = *parse_sharding(mesh, "[data | model]");
    buffer.shape = local_shape(buffer.global_shape, buffer.sharding);
    const auto part = [&](i64 data, i64 model) { return real_part(mesh, buffer, std::vector<i64>{data, model}); };
    CHECK(part(0, 0).start == std::vector<i64>{0, 0});
    CHECK(part(0, 0).shape == Shape{2, 3});
    CHECK(part(0, 1).shape == Shape{2, 2});
    CHECK(part(2, 1).start == std::vector<i64>{4, 3});
    CHECK(part(2, 1).shape == Shape{1, 2});
    CHECK(!part(2, 1).empty());
    CHECK(part(3, 0).empty());
}

TEST_CASE("a buffer without padding is real throughout") {
    Mesh mesh;
    mesh.axes = {{"data", 4, ""}};
    Buffer buffer;
    buffer.global_shape = {8};
    buffer.sharding = *parse_sharding(mesh, "[data]");
    buffer.shape = {2};
    CHECK(real_part(mesh, buffer, std::vector<i64>{3}).start == std::vector<i64>{6});
    CHECK(real_part(mesh, buffer, std::vector<i64>{3}).shape == Shape{2});
}

} // namespace shard
