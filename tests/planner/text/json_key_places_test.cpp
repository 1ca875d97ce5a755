#include "planner/text/json_key_places.h"

#include <doctest/doctest.h>

#include <vector>

using namespace shard;

TEST_CASE("keys: where each may stand") {
    const auto places = [](std::string_view key) {
        const std::span<const std::string> found = places_of_key(key);
        return std::vector<std::string>(found.begin(), found.end());
    };
    using Places = std::vector<std::string>;
    CHECK(places("mesh") == Places{"of a layout"});
    CHECK(places("min_size") == Places{"of 'fsdp' in a layout"});
    CHECK(places("microbatches") == Places{"of 'train' in a model"});
    CHECK(places("optimizer") == Places{"of 'train' in a model"});
    CHECK(places("max_memory_per_device") == Places{"of 'policy' in a layout", "of a policy"});
    CHECK(places("nothing").empty());
    CHECK(places("link").empty()); // of an axis of a mesh
}
