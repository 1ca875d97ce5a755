#include "cli/style/json_key_order.h"

#include <doctest/doctest.h>

namespace shard {

TEST_CASE("keys at the top stand as in the first schema that has them all") {
    const std::vector<size_t> layout = {1, 0}, model = {2, 0, 1}, none = {0, 1}, config = {1, 0};
    CHECK(key_order({"rules", "mesh"}) == layout);
    CHECK(key_order({"graph", "outputs", "model"}) == model);
    CHECK(key_order({"rules", "graph"}) == none);
    CHECK(key_order({"layouts", "models"}) == config);
}

} // namespace shard
